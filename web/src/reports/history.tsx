// What happened to the game, for a teacher whose class had trouble. Asked for when it is opened.

import { report as w } from "@lang/report";
import { useState } from "preact/hooks";
import type { GameTimeline, Happened } from "../shared/proto/protocol";
import { Loading } from "../shared/ui/parts";
import { readTimeline } from "../teacher/api";
import { Failure } from "../teacher/ui";

export function History({ game }: { game: string }) {
  const [timeline, setTimeline] = useState<GameTimeline | "none">();
  const [failed, setFailed] = useState<unknown>();
  const load = async () => {
    setFailed(undefined);
    try {
      setTimeline((await readTimeline(game)) ?? "none");
    } catch (error) {
      setFailed(error);
    }
  };
  const toggled = (event: Event) => {
    if ((event.currentTarget as HTMLDetailsElement).open && timeline === undefined) void load();
  };
  return (
    <details class="r-history" onToggle={toggled}>
      <summary>{w.history.title}</summary>
      {failed !== undefined && <Failure error={failed} retry={() => void load()} />}
      {failed === undefined && timeline === undefined && <Loading />}
      {timeline === "none" && <p class="soft">{w.history.none}</p>}
      {timeline !== undefined && timeline !== "none" && <Events timeline={timeline} />}
    </details>
  );
}

function Events({ timeline }: { timeline: GameTimeline }) {
  return (
    <>
      <ol class="plain r-events">
        {timeline.events.map((event, index) => (
          <li key={index}>
            <span class="num soft">{w.history.clock(event.at_ms)}</span> {sentence(event.what)}
          </li>
        ))}
      </ol>
      {(timeline.left_out ?? 0) > 0 && <p class="soft">{w.history.leftOut(timeline.left_out ?? 0)}</p>}
    </>
  );
}

/** One line; what a newer server may tell is shown by its name. */
export function sentence(what: Happened): string {
  switch (what.t) {
    case "created":
      return w.history.created;
    case "owner":
      if (what.rewound) return w.history.rewound(what.server);
      return what.epoch === 1 ? w.history.owner(what.server) : w.history.nextOwner(what.server);
    case "opened":
      return w.history.opened(what.q);
    case "closed":
      return w.history.closed(what.q);
    case "drops":
      return w.history.drops(what.players_lost + what.hosts_lost, what.players_back + what.hosts_back);
    case "behind":
      return w.history.behind;
    case "caught_up":
      return w.history.caughtUp(what.after_ms);
    case "over":
      return w.history.over;
    case "result_saved":
      return w.history.resultSaved;
    case "ended":
      return w.history.ended;
    default:
      return (what as { t: string }).t;
  }
}
