// The games that were played, newest first, each with its report.

import { teacher as w } from "@lang/teacher";
import { useState } from "preact/hooks";
import { reportPath } from "../shared/game";
import type { GameSummary } from "../shared/proto/protocol";
import { Confirm } from "../shared/ui/dialog";
import { Loading } from "../shared/ui/parts";
import { deleteGame, listGames } from "./api";
import { useDeletion } from "./deletion";
import { usePaged } from "./paged";
import { href } from "./route";
import { Failure, IconButton, MoreButton, Said } from "./ui";

export function GamesView() {
  const list = usePaged(listGames);
  const [said, setSaid] = useState("");
  const deletion = useDeletion(list, deleteGame, (game) => setSaid(w.games.removed(game.title)));
  return (
    <>
      <h1>{w.titles.games}</h1>
      <Said text={said} />
      {deletion.failed !== undefined && <Failure error={deletion.failed} />}
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
            <GameRow key={game.id} game={game} onDelete={() => deletion.ask(game)} />
          ))}
        </ul>
      )}
      <MoreButton list={list} />
      {deletion.asked && (
        <Confirm
          title={w.games.removeTitle}
          text={w.games.removeText(deletion.asked.title, w.moment(deletion.asked.ended_ms))}
          action={w.games.remove}
          danger
          busy={deletion.busy}
          onConfirm={() => void deletion.confirm()}
          onClose={deletion.cancel}
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
