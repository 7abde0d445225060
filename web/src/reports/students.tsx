// Every student with place, points and answers. Many questions make a wide table: it scrolls by itself, with the names in sight.

import { report as w } from "@lang/report";
import type { AnswerCell, ReportModel, StudentRow } from "./model";

export function Students({ model }: { model: ReportModel }) {
  return (
    <>
      <p class="soft">{w.legend}</p>
      {/* Focusable, so that the keyboard can scroll it. */}
      <div class="r-scroll" tabIndex={0} role="region" aria-labelledby="students">
        <table class="r-students">
          <thead>
            <tr>
              <th scope="col" class="r-rank">
                {w.rank}
              </th>
              <th scope="col" class="r-name">
                {w.name}
              </th>
              <th scope="col" class="r-figure">
                {w.total}
              </th>
              <th scope="col" class="r-figure">
                {w.rightCount}
              </th>
              {model.questions.map((card) => (
                <th key={card.q} scope="col" class={card.skipped ? "r-q r-off" : "r-q"} title={card.text}>
                  <span aria-hidden="true">{card.q}</span>
                  <span class="sr">{w.question(card.q)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {model.students.map((row) => (
              <Row key={row.id} row={row} skipped={model.questions.map((card) => card.skipped)} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ row, skipped }: { row: StudentRow; skipped: boolean[] }) {
  return (
    <tr>
      <td class="r-rank">{row.rank}</td>
      <th scope="row" class="r-name">
        <bdi class="name">{row.name}</bdi>
      </th>
      <td class="r-figure r-total">{w.points(row.total)}</td>
      <td class="r-figure">{row.right}</td>
      {row.cells.map((cell, index) => (
        <Cell key={cell.q} cell={cell} off={skipped[index] ?? false} />
      ))}
    </tr>
  );
}

const SIGNS: Record<AnswerCell["mark"], string> = { right: "✓", wrong: "✗", none: "–" };

function Cell({ cell, off }: { cell: AnswerCell; off: boolean }) {
  const points = w.points(cell.points);
  return (
    <td class={`r-q r-${cell.mark}${off ? " r-off" : ""}`}>
      <span class="sr">{w.cell[cell.mark](cell.q, points)}</span>
      <span aria-hidden="true">
        {SIGNS[cell.mark]}
        {cell.points > 0 && <small>{points}</small>}
      </span>
    </td>
  );
}
