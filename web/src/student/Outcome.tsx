// After a question: right or not, points, place, and what was right.

import * as common from "@lang/common";
import * as t from "@lang/student";
import type { Slot } from "../shared/outbox";
import type { OutcomeView, PlayerState } from "../shared/proto/protocol";
import { Tile } from "../shared/ui/shapes";
import { Screen } from "./parts";
import { Who } from "./Question";

export function Outcome({ state, outcome, slot }: { state: PlayerState; outcome: OutcomeView; slot: Slot | null }) {
  const { q, ok, streak, correct } = outcome;
  const [tone, icon, title] = ok ? ["good", "✓", common.correct] : ok === false ? ["bad", "✕", t.wrong] : ["", "–", t.none];
  const mine = slot?.q === q ? slot.choices : (state.answered ?? []);
  return (
    <Screen view={`r${q}`} title={title} icon={icon} tone={`outcome ${tone}`}>
      <Who state={state} />
      <p class="gain num">{t.gained(outcome.points)}</p>
      <p class="chips">
        <span>{t.standing(common.place(outcome.rank), outcome.of)}</span>
        {streak && streak > 1 && <span>{t.streak(streak)}</span>}
      </p>
      <h2>{t.rightAnswers(correct.length)}</h2>
      <ul class="choices plain">
        {correct.map((index) => (
          <li class="choice" key={index}>
            <Tile index={index} letter={common.letters[index]} />
            <span class="text" dir="auto">
              {state.question?.choices[index]}
            </span>
            {mine.includes(index) && <span class="yours">{t.yours}</span>}
          </li>
        ))}
      </ul>
      <p class="soft">{t.nextSoon}</p>
    </Screen>
  );
}
