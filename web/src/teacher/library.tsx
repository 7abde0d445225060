// The library: the teacher's quizzes, newest change first, and what can be done with each.

import { teacher as w } from "@lang/teacher";
import { useState } from "preact/hooks";
import type { QuizDocument, QuizSummary } from "../shared/proto/protocol";
import { TITLE_CHARS_MAX } from "../shared/proto/protocol";
import { Confirm } from "../shared/ui/dialog";
import { Loading } from "../shared/ui/parts";
import { createQuiz, deleteQuiz, listQuizzes, readQuiz } from "./api";
import { HostDialog } from "./host-dialog";
import { usePaged } from "./paged";
import { href } from "./route";
import { Failure, Icon, IconButton, MoreButton } from "./ui";

type Asked = { what: "host" | "delete"; quiz: QuizSummary };

/** The copy of a quiz, its title marked as one and still within its bound. */
export function copyOf(quiz: QuizDocument, mark: (title: string) => string): QuizDocument {
  const room = TITLE_CHARS_MAX - [...mark("")].length;
  return { ...quiz, title: mark([...quiz.title].slice(0, room).join("")) };
}

export function Library() {
  const list = usePaged(listQuizzes);
  const [asked, setAsked] = useState<Asked>();
  const [failed, setFailed] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");

  const duplicate = async (quiz: QuizSummary) => {
    setFailed(undefined);
    try {
      const original = await readQuiz(quiz.id);
      const copy = await createQuiz(copyOf(original.quiz, w.library.copyTitle));
      setSaid(w.library.duplicated(copy.quiz.title));
      list.reload();
    } catch (error) {
      setFailed(error);
    }
  };

  const remove = async (quiz: QuizSummary) => {
    setBusy(true);
    setFailed(undefined);
    try {
      await deleteQuiz(quiz.id);
      list.drop(quiz.id);
      setSaid(w.library.removed(quiz.title));
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
    setAsked(undefined);
  };

  return (
    <>
      <div class="row apart">
        <h1>{w.titles.library}</h1>
        <div class="row">
          <a class="btn plain" href={href({ view: "import" })}>
            <Icon name="file" />
            {w.library.import}
          </a>
          <a class="btn" href={href({ view: "quiz", id: undefined })}>
            <Icon name="add" />
            {w.library.fresh}
          </a>
        </div>
      </div>
      <p class="t-said" role="status">
        {said}
      </p>
      {failed !== undefined && <Failure error={failed} />}
      {list.failed !== undefined && <Failure error={list.failed} retry={list.load} />}
      {list.items === undefined && list.busy && <Loading />}
      {list.items?.length === 0 && <EmptyLibrary />}
      {list.items && list.items.length > 0 && (
        <ul class="plain t-cards">
          {list.items.map((quiz) => (
            <QuizCard
              key={quiz.id}
              quiz={quiz}
              onHost={() => setAsked({ what: "host", quiz })}
              onDelete={() => setAsked({ what: "delete", quiz })}
              onDuplicate={() => void duplicate(quiz)}
            />
          ))}
        </ul>
      )}
      <MoreButton list={list} />
      {asked?.what === "host" && <HostDialog quiz={asked.quiz} onClose={() => setAsked(undefined)} />}
      {asked?.what === "delete" && (
        <Confirm
          title={w.library.removeTitle}
          text={w.library.removeText(asked.quiz.title)}
          action={w.library.remove}
          danger
          busy={busy}
          onConfirm={() => void remove(asked.quiz)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function EmptyLibrary() {
  return (
    <section class="empty">
      <h2>{w.library.emptyTitle}</h2>
      <p>{w.library.emptyText}</p>
      <div class="row t-center">
        <a class="btn" href={href({ view: "quiz", id: undefined })}>
          {w.library.fresh}
        </a>
        <a class="btn plain" href={href({ view: "import" })}>
          {w.library.import}
        </a>
      </div>
    </section>
  );
}

interface CardProps {
  quiz: QuizSummary;
  onHost: () => void;
  onDuplicate: () => void;
  onDelete: () => void;
}

function QuizCard({ quiz, onHost, onDuplicate, onDelete }: CardProps) {
  const { title } = quiz;
  return (
    <li class="card t-card">
      <h2 class="t-card-title" dir="auto">
        <a href={href({ view: "quiz", id: quiz.id })}>{title}</a>
      </h2>
      <p class="soft t-meta">
        {w.library.questions(quiz.questions)} · {w.library.changed(w.day(quiz.updated_ms))}
      </p>
      <div class="row apart">
        <button
          type="button"
          class="btn"
          aria-label={w.library.hostNamed(title)}
          title={quiz.questions === 0 ? w.library.hostEmpty : undefined}
          disabled={quiz.questions === 0}
          onClick={onHost}
        >
          <Icon name="play" />
          {w.library.host}
        </button>
        <span class="t-icons">
          <a
            class="t-icon"
            href={href({ view: "quiz", id: quiz.id })}
            aria-label={w.library.editNamed(title)}
            title={w.library.edit}
          >
            <Icon name="edit" />
          </a>
          <IconButton
            icon="copy"
            name={w.library.duplicateNamed(title)}
            tip={w.library.duplicate}
            onClick={onDuplicate}
          />
          <IconButton icon="remove" name={w.library.removeNamed(title)} tip={w.library.remove} onClick={onDelete} />
        </span>
      </div>
    </li>
  );
}
