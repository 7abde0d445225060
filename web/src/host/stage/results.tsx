// A question's outcome on the board: how often each answer was chosen, what was right, and who leads.

import * as common from "@lang/common";
import * as t from "@lang/host";
import type { Place, QuestionView, RevealView } from "../../shared/proto/protocol";
import { Bar } from "../../shared/ui/bars";
import { Tile } from "../../shared/ui/shapes";
import { stemClass } from "./question";

export function ResultsStage({ question, reveal }: { question: QuestionView; reveal: RevealView }) {
  const most = Math.max(1, ...reveal.histogram);
  return (
    <div class="results-stage">
      <section>
        <h1 class={stemClass(question.text)} dir="auto" tabIndex={-1}>
          {question.text}
        </h1>
        <p class="verdict">
          {reveal.skipped ? t.skippedNote : reveal.answered === 0 ? t.nobodyAnswered : t.rightOf(reveal.right, reveal.answered)}
        </p>
        <table class={question.choices.length > 4 ? "histogram" : "histogram few"}>
          <caption class="sr">{t.results}</caption>
          <thead class="sr">
            <tr>
              <th scope="col">{t.colChoice}</th>
              <th scope="col">{t.colAnswers}</th>
              <th scope="col">{t.colCorrect}</th>
            </tr>
          </thead>
          <tbody>
            {question.choices.map((text, index) => {
              const correct = reveal.correct.includes(index);
              const count = reveal.histogram[index] ?? 0;
              return (
                <tr key={index} class={correct ? "right" : "wrong"}>
                  <th scope="row">
                    <span class="choice">
                      <Tile index={index} letter={common.letters[index]} />
                      <span class="text" dir="auto">
                        {text}
                      </span>
                    </span>
                  </th>
                  <td class="num">
                    <Bar share={count / most} index={index} />
                    <b>{common.number(count)}</b>
                  </td>
                  <td class="mark">
                    {correct && (
                      <>
                        <span aria-hidden="true">✓</span>
                        <span class="sr">{t.correct}</span>
                      </>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {reveal.board.length > 0 && (
        <section class="leaders" aria-labelledby="leaders">
          <h2 id="leaders">{t.leaders}</h2>
          <Ranking places={reveal.board} />
        </section>
      )}
    </div>
  );
}

/** Places with names and points. Equal points show the same place. */
export function Ranking({ places }: { places: Place[] }) {
  return (
    <ol class="plain ranking">
      {places.map((place, index) => (
        <li key={index} class={place.rank === 1 ? "first" : ""}>
          <b class="num">{place.rank}</b>
          <span class="name" dir="auto">
            {place.name}
          </span>
          <span class="num">{common.number(place.total)}</span>
        </li>
      ))}
    </ol>
  );
}
