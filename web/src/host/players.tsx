// Acting on players: the list, renaming, removing.

import * as common from "@lang/common";
import * as t from "@lang/host";
import { useState } from "preact/hooks";
import type { HostCommand, RosterEntry } from "../shared/proto/protocol";
import { Confirm, Dialog } from "../shared/ui/dialog";
import { Button, Field } from "../shared/ui/parts";
import { Name } from "./stage/lobby";

type Send = (command: HostCommand) => void;

/** A name in the lobby that opens what can be done about it. */
export function PlayerButton({ entry, onOpen }: { entry: RosterEntry; onOpen: (entry: RosterEntry) => void }) {
  return (
    <button type="button" class="player-button" onClick={() => onOpen(entry)}>
      <Name entry={entry} />
      <span class="sr">{t.playerMenu}</span>
    </button>
  );
}

/** Rename or remove one player. */
export function PlayerDialog({ entry, send, onClose }: { entry: RosterEntry; send: Send; onClose: () => void }) {
  const [name, setName] = useState(entry.name);
  const [removing, setRemoving] = useState(false);
  if (removing) {
    return (
      <Confirm
        title={t.removeAsk(entry.name)}
        text={t.removeText}
        action={t.remove}
        danger
        onConfirm={() => {
          send({ t: "kick", id: entry.id });
          onClose();
        }}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={entry.name} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "" && name !== entry.name) send({ t: "rename", id: entry.id, name });
          onClose();
        }}
      >
        <Field id="rename" label={t.newName} value={name} dir="auto" autocomplete="off" maxLength={200} onText={setName} />
        <div class="row">
          <Button kind="danger" onClick={() => setRemoving(true)}>
            {t.remove}
          </Button>
          <Button type="submit">{t.save}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Everybody in the game, at any time. */
export function PlayersDialog(props: { roster: RosterEntry[]; onOpen: (entry: RosterEntry) => void; onClose: () => void }) {
  return (
    <Dialog title={common.players(props.roster.length)} onClose={props.onClose}>
      {props.roster.length === 0 && <p class="soft">{t.lobbyEmpty}</p>}
      <ul class="plain names tall">
        {props.roster.map((entry) => (
          <li key={entry.id}>
            <PlayerButton entry={entry} onOpen={props.onOpen} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
