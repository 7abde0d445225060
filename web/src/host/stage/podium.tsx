// The end on the board: the first three places, ties named, then everybody.

import * as common from "@lang/common";
import * as t from "@lang/host";
import type { HostOverView, Place } from "../../shared/proto/protocol";
import { Ranking } from "./results";

/** Names on one step; more would not be read from the last row, and the list below has all. */
const STEP_NAMES_MAX = 6;

export function PodiumStage({ over, title }: { over: HostOverView; title: string }) {
  const steps = [1, 2, 3].map((rank) => over.places.filter((place) => place.rank === rank)).filter((step) => step.length > 0);
  return (
    <div class="podium-stage">
      <h1 tabIndex={-1}>{title}</h1>
      {steps.length === 0 ? (
        <p class="soft">{t.noRanking}</p>
      ) : (
        <ol class="plain podium">
          {steps.map((places) => (
            <Step key={places[0]?.rank} places={places} />
          ))}
        </ol>
      )}
      {over.places.length > 3 && (
        <section class="all-places" aria-labelledby="all-places">
          <h2 id="all-places">{t.allPlaces}</h2>
          <Ranking places={over.places} />
        </section>
      )}
    </div>
  );
}

function Step({ places }: { places: Place[] }) {
  const { rank, total } = places[0] as Place;
  return (
    <li class={`step s${rank}`}>
      <ul class="plain step-names">
        {places.slice(0, STEP_NAMES_MAX).map((place, index) => (
          <li key={index} class="name" dir="auto">
            {place.name}
          </li>
        ))}
        {places.length > STEP_NAMES_MAX && <li>+{places.length - STEP_NAMES_MAX}</li>}
      </ul>
      <div class="block">
        <b class="num">{common.place(rank)}</b>
        <span class="num">{common.points(total)}</span>
        {places.length > 1 && <small>{t.tied(places.length)}</small>}
      </div>
    </li>
  );
}
