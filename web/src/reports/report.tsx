// A game's report on one page: summary, every question with its answers, every student with theirs. It prints.

import { report as w } from "@lang/report";
import { Button } from "../shared/ui/parts";
import { Exports } from "./exports";
import { History } from "./history";
import type { ReportModel } from "./model";
import { Question } from "./question";
import { Students } from "./students";

export function Report({ model }: { model: ReportModel }) {
  return (
    <article class="r-report">
      <header class="r-head">
        <div>
          <p class="r-back">
            <a href="/teach#/games">{w.toGames}</a>
          </p>
          <h1 class="text" dir="auto">
            {model.title}
          </h1>
          <p class="soft">{w.playedOn(w.moment(model.endedMs))}</p>
        </div>
        <div class="row r-actions">
          <Exports game={model.game} />
          <Button kind="plain" onClick={() => print()}>
            {w.print}
          </Button>
        </div>
      </header>
      <Summary model={model} />
      <section>
        <h2 id="questions">{w.questions}</h2>
        {model.questions.length === 0 && <p class="soft">{w.nothingPlayed}</p>}
        <ol class="plain r-questions">
          {model.questions.map((card) => (
            <Question key={card.q} card={card} players={model.players} />
          ))}
        </ol>
      </section>
      <section>
        <h2 id="students">{w.byStudent}</h2>
        {model.students.length === 0 ? <p class="soft">{w.nobodyPlayed}</p> : <Students model={model} />}
      </section>
      <History game={model.game} />
    </article>
  );
}

function Summary({ model }: { model: ReportModel }) {
  const { hardest } = model;
  return (
    <section aria-labelledby="summary" class="r-summary">
      <h2 id="summary" class="sr">
        {w.summary}
      </h2>
      <dl class="r-facts">
        <Fact name={w.students} value={w.number(model.players)} />
        <Fact name={w.questionCount} value={w.number(model.questions.length)} />
        <Fact
          name={w.rightShare}
          value={model.percentRight === undefined ? w.none : w.percent(model.percentRight)}
          more={model.percentRight === undefined ? undefined : w.rightOf(model.right, model.answered)}
        />
        <Fact name={w.duration} value={w.minutes(model.endedMs - model.startedMs)} />
        <Fact name={w.scoring} value={model.accuracyOnly ? w.accuracy : w.speed} />
        <Fact name={w.code} value={model.code} />
      </dl>
      <p class="row r-jump">
        <a href="#questions">{w.questions}</a>
        <a href="#students">{w.byStudent}</a>
      </p>
      {hardest && (
        <p class="r-hardest">
          <a href={`#question-${hardest.q}`}>{w.hardest(hardest.q)}</a>
          {" · "}
          <span dir="auto" class="r-hardest-text">
            {hardest.text}
          </span>
        </p>
      )}
    </section>
  );
}

function Fact({ name, value, more }: { name: string; value: string; more?: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {more && <small>{more}</small>}
      </dd>
    </div>
  );
}
