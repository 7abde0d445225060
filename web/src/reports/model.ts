// What the report page shows, made from `ReportResponse`. Points, ranks and counts are the server's; this module pairs them with
// the questions as played and lays answers out by question. It adds nothing up that the server has added up.

import type {
  AnswerResult,
  Choice,
  PlayerResult,
  Question,
  QuestionKind,
  ReportResponse,
} from "../shared/proto/protocol";

/** How a student did on one question. */
export type Mark = "right" | "wrong" | "none";

export interface AnswerCell {
  q: number;
  mark: Mark;
  points: number;
}

export interface StudentRow {
  id: number;
  rank: number;
  name: string;
  total: number;
  /** One cell per played question. */
  cells: AnswerCell[];
  /** Right answers, without those to skipped questions, which nobody got points for. */
  right: number;
}

export interface ChoiceBar {
  letter: string;
  text: string;
  correct: boolean;
  count: number;
  /** Share of the accepted answers that contain this choice, in percent. */
  percent: number;
}

export interface QuestionCard {
  q: number;
  kind: QuestionKind;
  text: string;
  skipped: boolean;
  bars: ChoiceBar[];
  answered: number;
  right: number;
  /** Share of right answers among the accepted ones; none when nobody answered. */
  percentRight: number | undefined;
  medianMs: number | undefined;
}

export interface ReportModel {
  game: string;
  title: string;
  code: string;
  accuracyOnly: boolean;
  startedMs: number;
  endedMs: number;
  players: number;
  questions: QuestionCard[];
  students: StudentRow[];
  answered: number;
  right: number;
  percentRight: number | undefined;
  /** The question with the smallest share of right answers, when it is below all right and not alone. */
  hardest: QuestionCard | undefined;
}

/** Letters on the board: A for the first choice. */
export function letter(index: number): string {
  return String.fromCharCode(65 + index);
}

/** Whole percent, where only everything is 100 and only nothing is 0: 199 of 200 must not read as all. */
export function percent(part: number, whole: number): number | undefined {
  if (whole === 0) return undefined;
  if (part === 0 || part === whole) return part === 0 ? 0 : 100;
  return Math.min(99, Math.max(1, Math.round((100 * part) / whole)));
}

export function reportModel(report: ReportResponse): ReportModel {
  const { result } = report;
  const skipped = new Set(result.questions.filter((one) => one.skipped).map((one) => one.q));
  const questions = report.questions.map((one) =>
    questionCard(one, result.quiz.questions[one.q - 1], skipped.has(one.q)),
  );
  const numbers = questions.map((card) => card.q);
  const counted = questions.filter((card) => !card.skipped);
  const answered = sum(counted.map((card) => card.answered));
  const right = sum(counted.map((card) => card.right));
  return {
    title: result.quiz.title,
    game: result.game,
    code: result.code,
    accuracyOnly: result.settings.scoring === "accuracy",
    startedMs: result.created_ms,
    endedMs: result.ended_ms,
    players: result.players.length,
    questions,
    students: result.players.map((player) => studentRow(player, numbers, skipped)),
    answered,
    right,
    percentRight: percent(right, answered),
    hardest: hardest(counted),
  };
}

function questionCard(
  one: ReportResponse["questions"][number],
  played: Question | undefined,
  skipped: boolean,
): QuestionCard {
  const choices: Choice[] = played?.choices ?? one.histogram.map(() => ({ text: "", correct: false }));
  return {
    q: one.q,
    kind: played?.kind ?? "single",
    text: played?.text ?? "",
    skipped,
    bars: choices.map((choice, index) => {
      const count = one.histogram[index] ?? 0;
      return { letter: letter(index), ...choice, count, percent: percent(count, one.answered) ?? 0 };
    }),
    answered: one.answered,
    right: one.right,
    percentRight: percent(one.right, one.answered),
    medianMs: one.median_ms ?? undefined,
  };
}

function studentRow(player: PlayerResult, numbers: number[], skipped: Set<number>): StudentRow {
  const byQuestion = new Map<number, AnswerResult>(player.answers.map((answer) => [answer.q, answer]));
  const cells = numbers.map((q): AnswerCell => {
    const answer = byQuestion.get(q);
    if (!answer) return { q, mark: "none", points: 0 };
    return { q, mark: answer.correct ? "right" : "wrong", points: answer.points };
  });
  return {
    id: player.id,
    rank: player.rank,
    name: player.name,
    total: player.total,
    cells,
    right: cells.filter((cell) => cell.mark === "right" && !skipped.has(cell.q)).length,
  };
}

function hardest(cards: QuestionCard[]): QuestionCard | undefined {
  const answered = cards.filter((card) => card.answered > 0);
  if (answered.length < 2) return undefined;
  const worst = answered.reduce((a, b) => (b.right * a.answered < a.right * b.answered ? b : a));
  return worst.right === worst.answered ? undefined : worst;
}

function sum(figures: number[]): number {
  return figures.reduce((a, b) => a + b, 0);
}
