// The teacher's page: who is signed in and which view is open. A view is not taken down when the session is lost while it is open:
// signing in again finds the work as it was.

import { teacher as w } from "@lang/teacher";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../shared/ui/dialog";
import { Button, Loading } from "../shared/ui/parts";
import { Auth } from "./door";
import { EditorView } from "./editor-view";
import { Forgot, NewPassword } from "./forgotten";
import { Frame } from "./frame";
import { GamesView } from "./games";
import { guarded } from "./guard";
import { keepTokenYoung } from "./holding";
import { ImportView } from "./import-view";
import { Library } from "./library";
import type { Route } from "./route";
import { href, nextAddress, parseRoute } from "./route";
import type { SessionState } from "./session";
import { restore, useSession } from "./session";
import { SharedView } from "./shared-view";
import { Failure } from "./ui";

export function App() {
  const session = useSession();
  const way = useWay();
  const { view } = way.route;
  const atDoor = view === "signin" || view === "signup";
  // A password can be set anew whoever is signed in.
  const outside = view === "forgot" || view === "reset";
  useEffect(() => void restore(), []);
  useEffect(keepTokenYoung, []);
  useEffect(() => {
    if (session.user && atDoor) location.replace(nextAddress(location.hash) ?? href({ view: "library" }));
  }, [session.user, atDoor]);

  const owner = session.user ?? session.lost;
  const door = !session.user && !session.restoring;
  return (
    <Frame
      title={door && !atDoor && !outside ? w.titles.signin : w.titles[view]}
      user={session.user}
      view={view}
      onLeave={way.ask}
    >
      {session.restoring && <Loading />}
      {way.route.view === "forgot" && <Forgot />}
      {way.route.view === "reset" && <NewPassword token={way.route.token} />}
      {door && !outside && <Door session={session} signUp={view === "signup"} />}
      {owner && !atDoor && !outside && (
        // Hidden and not removed while signed out: what was typed is still in it.
        <div key={`${owner.id} ${way.visit}`} hidden={!session.user}>
          <View route={way.route} />
        </div>
      )}
      {way.leave && <LeaveDialog onStay={way.stay} onLeave={way.leave} />}
    </Frame>
  );
}

function Door({ session, signUp }: { session: SessionState; signUp: boolean }) {
  if (session.failed !== undefined) return <Failure error={session.failed} retry={() => void restore()} />;
  return <Auth key={signUp ? "up" : "in"} signUp={signUp} lost={session.lost !== undefined} />;
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "quiz":
      return <EditorView id={route.id} />;
    case "import":
      return <ImportView />;
    case "games":
      return <GamesView />;
    case "shared":
      return <SharedView id={route.id} />;
    case "library":
      return <Library />;
    case "signin":
    case "signup":
    case "forgot":
    case "reset":
      return null;
  }
}

interface Way {
  route: Route;
  /** Grows with every arrival, so that "new quiz" twice is two quizzes. */
  visit: number;
  /** Set while the teacher is asked whether unsaved work may go. */
  leave: (() => void) | undefined;
  stay: () => void;
  /** Asks, and does `leave` when the answer is yes. */
  ask: (leave: () => void) => void;
}

/** Follows the hash. While a view holds unsaved work, the address goes back to it and the teacher is asked. */
function useWay(): Way {
  const [place, setPlace] = useState({ route: parseRoute(location.hash), visit: 0 });
  const [asked, setAsked] = useState<{ leave: () => void }>();
  const free = useRef(false);

  useEffect(() => {
    const arrive = (event: HashChangeEvent) => {
      if (guarded() && !free.current) {
        const wanted = location.hash;
        history.replaceState(null, "", event.oldURL);
        setAsked({
          leave: () => {
            free.current = true;
            location.hash = wanted;
          },
        });
        return;
      }
      free.current = false;
      setPlace((was) => ({ route: parseRoute(location.hash), visit: was.visit + 1 }));
      scrollTo(0, 0);
    };
    addEventListener("hashchange", arrive);
    return () => removeEventListener("hashchange", arrive);
  }, []);

  const leave = asked && (() => {
    setAsked(undefined);
    asked.leave();
  });
  return { ...place, leave, stay: () => setAsked(undefined), ask: (then) => setAsked({ leave: then }) };
}

function LeaveDialog({ onStay, onLeave }: { onStay: () => void; onLeave: () => void }) {
  return (
    <Dialog title={w.leave.title} onClose={onStay}>
      <p>{w.leave.text}</p>
      <div class="row">
        <Button kind="danger" onClick={onLeave}>
          {w.leave.leave}
        </Button>
        <Button data-first onClick={onStay}>
          {w.leave.stay}
        </Button>
      </div>
    </Dialog>
  );
}
