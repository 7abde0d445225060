// Importing a file: choose or drop it, then read what became of every item. A file that fails leaves nothing behind.

import { teacher as w } from "@lang/teacher";
import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../shared/http";
import { Button, Note } from "../shared/ui/parts";
import { importFile } from "./api";
import { HostDialog } from "./host-dialog";
import type { ImportModel, ImportRow } from "./import";
import { FILE_BYTES_MAX, importModel, refuseFile } from "./import";
import { href } from "./route";
import { Icon } from "./ui";

type Stage =
  | { at: "choose" }
  | { at: "sending"; name: string }
  | { at: "refused"; name: string; text: string }
  | { at: "failed"; name: string; error: unknown }
  | { at: "done"; name: string; model: ImportModel };

export function ImportView() {
  const [stage, setStage] = useState<Stage>({ at: "choose" });

  const send = async (file: File) => {
    const { name } = file;
    const refusal = refuseFile(file);
    if (refusal) {
      const text = refusal === "empty" ? w.import.file_empty : w.import.file_large(FILE_BYTES_MAX / 1024 / 1024);
      return setStage({ at: "refused", name, text });
    }
    setStage({ at: "sending", name });
    try {
      setStage({ at: "done", name, model: importModel(await importFile(file)) });
    } catch (error) {
      setStage({ at: "failed", name, error });
    }
  };

  return (
    <div class="t-column">
      <h1>{w.titles.import}</h1>
      <p class="soft">{w.import.lead}</p>
      <DropZone busy={stage.at === "sending"} onFile={(file) => void send(file)} />
      <div role="status" class="t-said">
        {stage.at === "sending" && w.import.sending(stage.name)}
      </div>
      {stage.at === "refused" && (
        <Refused name={stage.name} text={stage.text} />
      )}
      {stage.at === "failed" && (
        <Refused name={stage.name} text={messageOf(stage.error)} />
      )}
      {stage.at === "done" && <Outcome key={stage.name} name={stage.name} model={stage.model} />}
    </div>
  );
}

function Refused({ name, text }: { name: string; text: string }) {
  return (
    <Note kind="bad">
      <b class="text" dir="auto">
        {w.import.failed(name)}
      </b>
      <p>{text}</p>
    </Note>
  );
}

interface DropProps {
  busy: boolean;
  onFile: (file: File) => void;
}

function DropZone({ busy, onFile }: DropProps) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file && !busy) onFile(file);
    // The same file chosen again must count as a choice.
    if (input.current) input.current.value = "";
  };
  return (
    <div
      class={over ? "t-drop t-drop-over" : "t-drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <Icon name="file" />
      <p class="t-drop-text">{w.import.drop}</p>
      <label for="import-file" class="btn t-file">
        {w.import.choose}
        <input
          ref={input}
          id="import-file"
          type="file"
          accept=".gift,.txt,.xlsx,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
          aria-describedby="import-formats"
          disabled={busy}
          onChange={(event) => take(event.currentTarget.files)}
        />
      </label>
      <p id="import-formats" class="hint">
        {w.import.formats}
      </p>
    </div>
  );
}

function Outcome({ name, model }: { name: string; model: ImportModel }) {
  const { quiz, skipped, changed } = model;
  const [hosting, setHosting] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class={`card stack t-outcome t-outcome-${model.outcome}`}>
      <h2 ref={heading} tabIndex={-1}>
        {model.outcome === "none" ? w.import.none : w.import.done(model.imported)}
      </h2>
      <p class="text" dir="auto">
        {name} <span class="chip">{w.import.format[model.format]}</span>
      </p>
      {quiz && (
        <p class="text t-made" dir="auto">
          {quiz.title}
        </p>
      )}
      {skipped.length === 0 && <p>{w.import.allTaken}</p>}
      {quiz && (
        <div class="row">
          {model.imported > 0 && (
            <Button onClick={() => setHosting(true)}>
              <Icon name="play" />
              {w.library.host}
            </Button>
          )}
          <a class="btn plain" href={href({ view: "quiz", id: quiz.id })}>
            {w.import.open}
          </a>
        </div>
      )}
      {skipped.length > 0 && <Items title={w.import.skipped(skipped.length)} rows={skipped} why={w.import.reason} />}
      {changed.length > 0 && <Items title={w.import.changed(changed.length)} rows={changed} why={w.import.change} />}
      {hosting && quiz && <HostDialog quiz={quiz} onClose={() => setHosting(false)} />}
    </section>
  );
}

function Items({ title, rows, why }: { title: string; rows: ImportRow[]; why: string }) {
  return (
    <table class="table t-stack">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{w.import.item}</th>
          <th scope="col">{w.import.place}</th>
          <th scope="col">{why}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            <th scope="row" dir="auto">
              {row.name}
            </th>
            <td dir="auto" data-label={w.import.place}>
              {row.place}
            </td>
            <td dir="auto" data-label={why}>
              {row.reason}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
