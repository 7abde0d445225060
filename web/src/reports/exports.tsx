// Buttons that keep a report as a file for spreadsheet programs.

import { report as w } from "@lang/report";
import { useState } from "preact/hooks";
import { download } from "../shared/download";
import { Button } from "../shared/ui/parts";
import { Failure } from "../teacher/ui";

const FORMATS = ["xlsx", "csv"] as const;

export function Exports({ game }: { game: string }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const keep = async (format: (typeof FORMATS)[number]) => {
    setBusy(true);
    setFailed(undefined);
    try {
      await download(`/store/games/${encodeURIComponent(game)}/export?format=${format}`);
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
  };
  return (
    <>
      {FORMATS.map((format) => (
        <Button key={format} kind="plain" busy={busy} onClick={() => void keep(format)}>
          {w.exports[format]}
        </Button>
      ))}
      {failed !== undefined && <Failure error={failed} />}
    </>
  );
}
