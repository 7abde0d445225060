// Words of a game's report.

import { plurals } from "../plural";

const plural = plurals("en");
const number = new Intl.NumberFormat("en");
const seconds = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en", { timeStyle: "medium" });
const moments = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });

export const report = {
  title: "Report",
  missing: "Open a report from the list of your games.",
  toGames: "All reports",
  signIn: "Sign in to see this report.",
  toSignIn: "Sign in",
  number: (n: number) => number.format(n),
  moment: (ms: number) => moments.format(ms),
  percent: (n: number) => `${n} %`,
  seconds: (ms: number) => `${seconds.format(ms / 1000)} s`,
  minutes: (ms: number) => plural(Math.max(1, Math.round(ms / 60_000)), { one: "# minute", other: "# minutes" }),
  print: "Print",
  exports: { xlsx: "Excel", csv: "CSV" },
  playedOn: (moment: string) => `Played on ${moment}`,
  summary: "Summary",
  students: "Students",
  questionCount: "Questions",
  rightShare: "Answers right",
  rightOf: (right: number, answered: number) => `${number.format(right)} of ${number.format(answered)}`,
  duration: "Duration",
  code: "Code",
  scoring: "Points",
  speed: "Speed and accuracy",
  accuracy: "Accuracy only",
  hardest: (n: number) => `Hardest: question ${n}`,
  none: "–",
  questions: "Questions",
  question: (n: number) => `Question ${n}`,
  skipped: "Skipped, no points",
  answered: (answered: number, of: number) => `${number.format(answered)} of ${plural(of, { one: "# student", other: "# students" })} answered`,
  nobody: "Nobody answered",
  right: "right",
  median: "Median time",
  answers: (n: number) => `Answers to question ${n}`,
  letter: "Letter",
  answer: "Answer",
  chosen: "Chosen",
  share: "Share",
  correct: "Correct",
  byStudent: "Students and their answers",
  rank: "Place",
  name: "Name",
  total: "Points",
  rightCount: "Right",
  legend: "✓ right, ✗ wrong, – no answer. The small figure is the points.",
  cell: {
    right: (q: number, points: string) => `Question ${q}: right, ${points} points`,
    wrong: (q: number, _points: string) => `Question ${q}: wrong`,
    none: (q: number, _points: string) => `Question ${q}: no answer`,
  },
  nobodyPlayed: "No students took part in this game.",
  nothingPlayed: "No question was played.",
  points: (n: number) => number.format(n),
  history: {
    title: "What happened to this game",
    none: "Nothing was kept about this game.",
    clock: (ms: number) => clock.format(ms),
    leftOut: (n: number) => `${number.format(n)} more events are not shown.`,
    created: "Created",
    owner: (server: string) => `Played on ${server}`,
    nextOwner: (server: string) => `Went on at ${server}`,
    rewound: (server: string) => `Went on at ${server} with what was left after a failure; the last answers before may be missing`,
    opened: (n: number) => `Question ${n} opened`,
    closed: (n: number) => `Question ${n} closed`,
    drops: (lost: number, back: number) => `Connections lost: ${number.format(lost)}, back: ${number.format(back)}`,
    behind: "Saving fell behind",
    caughtUp: (ms: number) => `Everything saved again, after ${seconds.format(ms / 1000)} s`,
    over: "Final places",
    resultSaved: "Report saved",
    ended: "Closed",
  },
};

export type Report = typeof report;
