// The games that were played, newest first, each with its report.

import { teacher as w } from "@lang/teacher";
import { useState } from "preact/hooks";
import { reportPath } from "../shared/game";
import type { GameSummary } from "../shared/proto/protocol";
import { Confirm } from "../shared/ui/dialog";
import { Loading } from "../shared/ui/parts";
import { deleteGame, listGames } from "./api";
import { usePaged } from "./paged";
import { href } from "./route";
import { Failure, IconButton, MoreButton } from "./ui";

export function GamesView() {
  const list = usePaged(listGames);
  const [deleting, setDeleting] = useState<GameSummary>();
  const [failed, setFailed] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");

  const remove = async (game: GameSummary) => {
    setBusy(true);
    setFailed(undefined);
    try {
      await deleteGame(game.id);
      list.drop(game.id);
      setSaid(w.games.removed(game.title));
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
    setDeleting(undefined);
  };

  return (
    <>
      <h1>{w.titles.games}</h1>
      <p class="t-said" role="status">
        {said}
      </p>
      {failed !== undefined && <Failure error={failed} />}
      {list.failed !== undefined && <Failure error={list.failed} retry={list.load} />}
      {list.items === undefined && list.busy && <Loading />}
      {list.items?.length === 0 && (
        <section class="empty">
          <h2>{w.games.emptyTitle}</h2>
          <p>{w.games.emptyText}</p>
          <a class="btn" href={href({ view: "library" })}>
            {w.games.toLibrary}
          </a>
        </section>
      )}
      {list.items && list.items.length > 0 && (
        <ul class="plain t-rows">
          {list.items.map((game) => (
            <GameRow key={game.id} game={game} onDelete={() => setDeleting(game)} />
          ))}
        </ul>
      )}
      <MoreButton list={list} />
      {deleting && (
        <Confirm
          title={w.games.removeTitle}
          text={w.games.removeText(deleting.title, w.moment(deleting.ended_ms))}
          action={w.games.remove}
          danger
          busy={busy}
          onConfirm={() => void remove(deleting)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  );
}

function GameRow({ game, onDelete }: { game: GameSummary; onDelete: () => void }) {
  const when = w.moment(game.ended_ms);
  return (
    <li class="t-game">
      <div class="t-game-main">
        <h2 class="t-card-title" dir="auto">
          <a href={reportPath(game.id)}>{game.title}</a>
        </h2>
        <p class="soft t-meta">
          {when} · {w.games.players(game.players)} · {w.library.questions(game.questions)}
        </p>
      </div>
      <a
        class="btn plain"
        href={reportPath(game.id)}
        aria-label={w.games.reportNamed(game.title, when)}
      >
        {w.games.report}
      </a>
      <IconButton icon="remove" name={w.games.removeNamed(game.title, when)} tip={w.games.remove} onClick={onDelete} />
    </li>
  );
}
