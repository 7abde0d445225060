// Chooses the view by the page's state.

import * as t from "@lang/student";
import { canonical, grouped, isCode } from "../shared/code";
import { Lobby } from "./Lobby";
import { Outcome } from "./Outcome";
import { enter, type Page, page, submitCode } from "./page";
import { Brand, LineForm, Screen } from "./parts";
import { Places } from "./Places";
import { Question } from "./Question";
import type { End, PlayerSession } from "./session";

export function App({ page }: { page: Page }) {
  return (
    <>
      <p class="banner" role="status">
        {page.banner}
      </p>
      <View page={page} />
      <p class="sr" role="status">
        {page.spoken}
      </p>
    </>
  );
}

const exit = () => enter("");

function View({ page }: { page: Page }) {
  const { session } = page;
  if (!session) return <CodeForm page={page} />;
  const shown = session.shown.get();
  const { state } = shown.view;
  if (shown.end && !(shown.end === "over" && state?.over)) return <Ended end={shown.end} session={session} />;
  if (state) {
    const { phase, question, outcome, over } = state;
    if (phase === "lobby") return <Lobby page={page} session={session} state={state} />;
    if (phase === "question" && question) return <Question page={page} session={session} state={state} question={question} />;
    if (phase === "results" && outcome) return <Outcome state={state} outcome={outcome} slot={shown.slot} />;
    if (over) return <Places state={state} over={over} ended={phase === "ended"} onExit={exit} />;
    if (phase === "ended") return <Ended end="over" session={session} />;
  } else if (!session.known()) {
    return <NameForm page={page} session={session} />;
  }
  // A place is being resumed, or the next frame brings what is missing.
  return (
    <Screen view="resuming" title={t.resuming} tone="entry">
      <button class="btn quiet" type="button" onClick={exit}>
        {t.otherCode}
      </button>
    </Screen>
  );
}

function CodeForm({ page: { error, busy } }: { page: Page }) {
  return (
    <Screen view="code" title={<Brand />} tone="entry">
      <LineForm
        key="code"
        code
        label={t.codeLabel}
        hint={t.codeHint}
        error={error}
        action={busy ? t.checking : t.go}
        busy={busy}
        onText={(text) => {
          // A finished code is taken at once, a pasted one too.
          if (isCode(canonical(text))) void submitCode(text);
          else if (error) page.set({ error: "" });
        }}
        onSubmit={(text) => void submitCode(text)}
      />
    </Screen>
  );
}

function NameForm({ page: { error }, session }: { page: Page; session: PlayerSession }) {
  const { joining, refusal } = session.shown.get();
  return (
    <Screen view="name" title={<Brand />} tone="entry">
      <LineForm
        key="name"
        label={t.nameLabel}
        hint={t.nameHint}
        error={refusal ? t.errorText(refusal) : error}
        action={joining ? t.joining : t.join}
        busy={joining}
        // The socket opens while the name is being typed.
        onText={(text) => text && session.open()}
        onSubmit={(text) => {
          page.set({ error: text.trim() ? "" : t.nameEmpty });
          if (text.trim()) session.join(text);
        }}
      />
      <p class="soft">
        {t.game(grouped(session.code))} ·{" "}
        <button class="btn quiet" type="button" onClick={exit}>
          {t.otherCode}
        </button>
      </p>
    </Screen>
  );
}

const ENDS: Record<End, [title: string, text: string | undefined, action: string, act: (session: PlayerSession) => void]> = {
  over: [t.over, t.overText, t.again, exit],
  left: [t.left, t.leftText, t.joinAgain, (session) => session.startOver()],
  kicked: [t.kicked, t.errors.kicked, t.joinAgain, (session) => session.startOver()],
  replaced: [t.replaced, t.replacedText, t.takeOver, (session) => session.takeOver()],
  no_such_game: [t.over, t.errors.ended, t.again, exit],
  lost: [t.over, t.errors.game_lost, t.again, exit],
  broken: [t.broken, t.brokenText, t.reload, () => location.reload()],
};

function Ended({ end, session }: { end: End; session: PlayerSession }) {
  const [title, text, action, act] = ENDS[end];
  return (
    <Screen view={end} title={title} tone="entry">
      <p class="lead">{text}</p>
      <button class="btn big" type="button" onClick={() => act(session)}>
        {action}
      </button>
      <Brand />
    </Screen>
  );
}
