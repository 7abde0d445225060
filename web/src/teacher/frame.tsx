// The frame of a teacher's page, the report's too: where one can go, who is signed in, and the way out.

import { teacher as w } from "@lang/teacher";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "../shared/http";
import type { User } from "../shared/proto/protocol";
import { Button, Note, Shell } from "../shared/ui/parts";
import { guarded } from "./guard";
import type { Route } from "./route";
import { logout } from "./session";

const PLACES = ["library", "import", "games"] as const;

/** The editor belongs to the library. */
function inside(view: Route["view"] | undefined, place: (typeof PLACES)[number]): boolean {
  return view === "quiz" && place === "library";
}

interface FrameProps {
  title: string;
  user: User | undefined;
  /** The place that is marked as the current one. */
  view: Route["view"] | undefined;
  /** Asks before signing out loses work; told what to do when the answer is yes. */
  onLeave?: (leave: () => void) => void;
  children: ComponentChildren;
}

export function Frame({ title, user, view, onLeave, children }: FrameProps) {
  const [failed, setFailed] = useState<unknown>();
  const out = () => {
    setFailed(undefined);
    logout().catch(setFailed);
  };
  const nav = user && (
    <>
      {PLACES.map((place) => (
        <a key={place} href={`/teach#/${place}`} aria-current={view === place ? "page" : inside(view, place) ? "true" : undefined}>
          {w.nav[place]}
        </a>
      ))}
    </>
  );
  const end = user && (
    <>
      <span class="name t-who" dir="auto">
        {user.name}
      </span>
      <Button kind="quiet" onClick={() => (guarded() && onLeave ? onLeave(out) : out())}>
        {w.nav.signOut}
      </Button>
    </>
  );
  return (
    <Shell title={title} home="/teach#/library" nav={nav} end={end}>
      {failed !== undefined && <Note kind="bad">{messageOf(failed)}</Note>}
      {children}
    </Shell>
  );
}
