// The library: the teacher's quizzes, newest change first, and what can be done with each.

import { teacher as w } from "@lang/teacher";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { QuizSummary } from "../shared/proto/protocol";
import { Confirm } from "../shared/ui/dialog";
import { Field, Loading } from "../shared/ui/parts";
import { createQuiz, deleteQuiz, listQuizzes, readQuiz } from "./api";
import { copyOf } from "./copy";
import { useDeletion } from "./deletion";
import { holdNewest } from "./holding";
import { HostDialog } from "./host-dialog";
import { usePaged } from "./paged";
import { href } from "./route";
import { ShareDialog } from "./share-dialog";
import { Failure, Icon, IconButton, MoreButton, Said } from "./ui";

/** A pause in typing after which is searched. */
const SEARCH_PAUSE_MS = 250;

export function Library() {
  const [search, setSearch] = useState("");
  const [typed, setTyped] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), SEARCH_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const read = useCallback((after?: string) => listQuizzes(after, search), [search]);
  const list = usePaged(read);
  const [said, setSaid] = useState("");
  const deletion = useDeletion(list, deleteQuiz, (quiz) => setSaid(w.library.removed(quiz.title)));
  const [hosted, setHosted] = useState<QuizSummary>();
  const [shared, setShared] = useState<QuizSummary>();
  const [failed, setFailed] = useState<unknown>();

  useEffect(() => {
    if (list.items && search === "") void holdNewest(list.items);
  }, [list.items, search]);

  const duplicate = async (quiz: QuizSummary) => {
    setFailed(undefined);
    try {
      const original = await readQuiz(quiz.id);
      const { id, updated_ms, quiz: copy } = await createQuiz(copyOf(original.quiz, w.library.copyTitle));
      list.prepend({ id, updated_ms, title: copy.title, questions: copy.questions.length });
      setSaid(w.library.duplicated(copy.title));
    } catch (error) {
      setFailed(error);
    }
  };

  return (
    <>
      <LibraryHead />
      <Said text={said} />
      {failed !== undefined && <Failure error={failed} />}
      {deletion.failed !== undefined && <Failure error={deletion.failed} />}
      {list.failed !== undefined && <Failure error={list.failed} retry={list.load} />}
      {list.items === undefined && list.busy && <Loading />}
      {(typed !== "" || (list.items && list.items.length > 0)) && (
        <Field id="search" type="search" label={w.library.search} value={typed} maxLength={120} onText={setTyped} />
      )}
      {list.items?.length === 0 && (search === "" ? typed === "" && <EmptyLibrary /> : <p role="status">{w.library.nothingFound}</p>)}
      {list.items && list.items.length > 0 && (
        <ul class="plain t-cards">
          {list.items.map((quiz) => (
            <QuizCard
              key={quiz.id}
              quiz={quiz}
              onHost={() => setHosted(quiz)}
              onShare={() => setShared(quiz)}
              onDelete={() => deletion.ask(quiz)}
              onDuplicate={() => void duplicate(quiz)}
            />
          ))}
        </ul>
      )}
      <MoreButton list={list} />
      {hosted && <HostDialog quiz={hosted} onClose={() => setHosted(undefined)} />}
      {shared && <ShareDialog quiz={shared} onClose={() => setShared(undefined)} />}
      {deletion.asked && (
        <Confirm
          title={w.library.removeTitle}
          text={w.library.removeText(deletion.asked.title)}
          action={w.library.remove}
          danger
          busy={deletion.busy}
          onConfirm={() => void deletion.confirm()}
          onClose={deletion.cancel}
        />
      )}
    </>
  );
}

function LibraryHead() {
  return (
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
  onShare: () => void;
  onDelete: () => void;
}

function QuizCard({ quiz, onHost, onDuplicate, onShare, onDelete }: CardProps) {
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
          <IconButton icon="share" name={w.library.shareNamed(title)} tip={w.library.share} onClick={onShare} />
          <IconButton icon="remove" name={w.library.removeNamed(title)} tip={w.library.remove} onClick={onDelete} />
        </span>
      </div>
    </li>
  );
}
