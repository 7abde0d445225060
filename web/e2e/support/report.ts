// A game's report as the API gives it, and totals worked out anew from its raw answers.

interface Answer {
  q: number;
  choices: number[];
  elapsed_ms: number;
  correct: boolean;
  points: number;
}

interface Player {
  name: string;
  rank: number;
  total: number;
  answers: Answer[];
}

interface Question {
  kind: 'single' | 'multiple' | 'true_false';
  text: string;
  choices: Array<{ text: string; correct: boolean }>;
  time_ms: number;
}

export interface Report {
  result: {
    game: string;
    quiz: { title: string; questions: Question[] };
    questions: Array<{ q: number; skipped: boolean }>;
    players: Player[];
  };
}

/** The report of the newest game, asked for as any program would. */
export async function newestReport(loopback: string, email: string, password: string): Promise<Report> {
  const base = `http://${loopback}/store`;
  const signedIn = await fetch(`${base}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  const games = (await (await fetch(`${base}/games`, { headers })).json()) as { items: Array<{ id: string }> };
  const newest = games.items[0];
  if (!newest) throw new Error('the history is empty');
  return (await (await fetch(`${base}/games/${newest.id}/report`, { headers })).json()) as Report;
}

export interface Line {
  name: string;
  rank: number;
  total: number;
}

/** Places from nothing but what each player chose and when, by the rules of docs/protocol.md. */
export function recomputed(report: Report): Line[] {
  const { quiz, questions, players } = report.result;
  const totals = players.map((player) => ({
    name: player.name,
    total: player.answers.reduce((sum, answer) => {
      const question = quiz.questions[answer.q - 1];
      const played = questions.find((each) => each.q === answer.q);
      if (!question || !played) throw new Error(`an answer to question ${answer.q}, which was not played`);
      return sum + (played.skipped ? 0 : points(question, answer));
    }, 0),
  }));
  return totals.map((line) => ({ ...line, rank: 1 + totals.filter((other) => other.total > line.total).length }));
}

function points(question: Question, answer: Answer): number {
  const right = question.choices.flatMap((choice, index) => (choice.correct ? [index] : []));
  const correct =
    question.kind === 'multiple'
      ? right.length === answer.choices.length && right.every((index) => answer.choices.includes(index))
      : answer.choices.length === 1 && right.includes(answer.choices[0] as number);
  return correct ? 1000 - Math.floor((500 * answer.elapsed_ms) / question.time_ms) : 0;
}
