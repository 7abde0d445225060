// One question of a report: the share that was right, and how often each choice was chosen. The table is the chart: every bar stands
// in the row of its figures, so that nothing is said by length or colour alone.

import { report as w } from "@lang/report";
import { Tile } from "../shared/ui/shapes";
import type { ChoiceBar, QuestionCard } from "./model";

export function Question({ card, players }: { card: QuestionCard; players: number }) {
  return (
    <li class="card r-question" id={`question-${card.q}`}>
      <div class="r-question-head">
        <div class="r-question-words">
          <h3>
            {w.question(card.q)} {card.skipped && <span class="chip">{w.skipped}</span>}
          </h3>
          <p class="text r-stem" dir="auto">
            {card.text}
          </p>
        </div>
        <dl class="r-figures">
          <div>
            <dt>{w.right}</dt>
            <dd>{card.percentRight === undefined ? w.none : w.percent(card.percentRight)}</dd>
          </div>
          <div>
            <dt>{w.median}</dt>
            <dd>{card.medianMs === undefined ? w.none : w.seconds(card.medianMs)}</dd>
          </div>
        </dl>
      </div>
      <p class="soft">{card.answered === 0 ? w.nobody : w.answered(card.answered, players)}</p>
      <table class="r-bars">
        <caption class="sr">{w.answers(card.q)}</caption>
        <thead class="sr">
          <tr>
            <th scope="col">{w.letter}</th>
            <th scope="col">{w.answer}</th>
            <th scope="col">{w.chosen}</th>
            <th scope="col">{w.share}</th>
          </tr>
        </thead>
        <tbody>
          {card.bars.map((bar, index) => (
            <Bar key={bar.letter} bar={bar} index={index} />
          ))}
        </tbody>
      </table>
    </li>
  );
}

function Bar({ bar, index }: { bar: ChoiceBar; index: number }) {
  return (
    <tr class={bar.correct ? "r-right" : ""}>
      <td class="r-tile">
        <Tile index={index} letter={bar.letter} />
      </td>
      <th scope="row">
        <span class="r-choice">
          <span class="text" dir="auto">
            {bar.text}
          </span>
          {bar.correct && <span class="r-correct">✓ {w.correct}</span>}
        </span>
        <svg class="r-bar" width="100%" height="10" aria-hidden="true" focusable="false">
          <rect class="r-track" width="100%" height="10" rx="5" />
          {bar.count > 0 && <rect class="r-fill" width={`${bar.percent}%`} height="10" rx="5" />}
        </svg>
      </th>
      <td class="r-count">{w.number(bar.count)}</td>
      <td class="r-share">{w.percent(bar.percent)}</td>
    </tr>
  );
}
