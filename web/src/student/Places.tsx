// The end: this player's place, and the first three. Equal points share a place, and it is said.

import * as common from "@lang/common";
import * as t from "@lang/student";
import type { OverView, PlayerState } from "../shared/proto/protocol";
import { Screen } from "./parts";

export function Places(props: { state: PlayerState; over: OverView; ended: boolean; onExit: () => void }) {
  const { state, over, ended } = props;
  const shared = (rank: number) => over.top.filter((place) => place.rank === rank).length > 1;
  return (
    <Screen view="places" title={ended ? t.over : t.podium} tone="places">
      <div class="medal" role="group" aria-label={t.yourPlace}>
        <p class="me name" dir="auto">
          {state.name}
        </p>
        {/* Who came when the final places stood already has none. */}
        {typeof over.rank === "number" && (
          <>
            <p class="rank num">{common.place(over.rank)}</p>
            <p class="num">
              {t.standing(common.place(over.rank), over.of)} · {common.points(over.total)}
            </p>
          </>
        )}
      </div>
      <ol class="top plain">
        {over.top.map((place, index) => (
          <li key={index} class={`p${place.rank}`}>
            <b class="num">{place.rank}</b>
            <span class="name" dir="auto">
              {place.name}
            </span>
            {shared(place.rank) && <span class="soft">{t.tied}</span>}
            <span class="num">{common.number(place.total)}</span>
          </li>
        ))}
      </ol>
      {ended && (
        <button class="btn big" type="button" onClick={props.onExit}>
          {t.again}
        </button>
      )}
    </Screen>
  );
}
