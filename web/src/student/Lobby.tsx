// Joined, waiting for the host: the name can be changed, the game left.

import * as t from "@lang/student";
import type { PlayerState } from "../shared/proto/protocol";
import { type Page, page } from "./page";
import { LineForm, Screen } from "./parts";
import type { PlayerSession } from "./session";

const ask = (asking: Page["asking"]) => page.set({ asking });

export function Lobby(props: { page: Page; session: PlayerSession; state: PlayerState }) {
  const { session, state } = props;
  const { asking } = props.page;
  const leaving = asking === "leave";
  // When the new name has arrived the form has done its work.
  const renaming = asking && !leaving && asking.rename === state.name;
  const { refusal } = session.shown.get();
  return (
    <Screen view="lobby" title={t.inLobby} tone="lobby">
      <p class="me name" dir="auto">
        {state.name}
      </p>
      <p class="lead text" dir="auto">
        {state.title}
      </p>
      <p class="soft">{t.lobbyWait}</p>
      {renaming && (
        <LineForm
          label={t.nameLabel}
          error={refusal ? t.errorText(refusal) : ""}
          action={t.save}
          value={state.name}
          onSubmit={(text) => (text.trim() === state.name ? ask(null) : session.rename(text))}
        />
      )}
      {leaving && <p class="lead">{t.leaveAsk}</p>}
      <p class="pair">
        {leaving && (
          <button class="btn danger" type="button" onClick={() => session.leave()}>
            {t.leave}
          </button>
        )}
        {renaming || leaving ? (
          <button class="btn plain" type="button" onClick={() => ask(null)}>
            {leaving ? t.stay : t.cancel}
          </button>
        ) : (
          <>
            <button class="btn plain" type="button" onClick={() => ask({ rename: state.name })}>
              {t.rename}
            </button>
            <button class="btn plain" type="button" onClick={() => ask("leave")}>
              {t.leave}
            </button>
          </>
        )}
      </p>
    </Screen>
  );
}
