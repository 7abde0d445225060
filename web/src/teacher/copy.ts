// Copies of quizzes.

import type { QuizDocument } from "../shared/proto/protocol";
import { TITLE_CHARS_MAX } from "../shared/proto/protocol";

/** The copy of a quiz, its title marked as one and still within its bound. */
export function copyOf(quiz: QuizDocument, mark: (title: string) => string): QuizDocument {
  const room = TITLE_CHARS_MAX - [...mark("")].length;
  return { ...quiz, title: mark([...quiz.title].slice(0, room).join("")) };
}
