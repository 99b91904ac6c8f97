import { useEffect, useState } from "react";
import { read } from "../api/client.ts";
import type { BlockRow, RouteAnswers } from "../api/contract.ts";
import { countedText, pluralText, tokensText } from "../base/format.ts";
import { ScrollText } from "../components/scroll-text.tsx";
import { commandOn, sessionPath } from "./actions.ts";
import { ChangeDialog } from "./change-dialog.tsx";

export type CompressDialogProps = {
  readonly session: string;
  readonly blocks: readonly number[];
  readonly rows: readonly BlockRow[];
  readonly onClose: () => void;
};

const levels = [
  { level: "trimmed", about: "drops the middle of long texts; keeps errors, names and numbers" },
  { level: "summarized", about: "keeps the most important sentences" },
  { level: "minimal", about: "keeps one line" },
] as const;
type LowerLevel = (typeof levels)[number]["level"];

/** Chooses a level by its size. For a single block it also shows the text at that level. */
export function CompressDialog({ session, blocks, rows, onClose }: CompressDialogProps) {
  const [level, setLevel] = useState<LowerLevel>("trimmed");
  const chosen = rows.filter(({ n }) => blocks.includes(n));
  const previews = usePreviews(session, blocks);
  const single = blocks.length === 1 ? previews?.[0] : undefined;
  const preview = single?.rows.find((row) => row.level === level);
  return (
    <ChangeDialog
      session={session}
      title={`Compress ${pluralText(blocks.length, "block")}`}
      command={{ ...commandOn("compress", blocks), level }}
      onClose={onClose}
    >
      <fieldset className="choices">
        <legend>Level</legend>
        {levels.map((each) => (
          <label key={each.level}>
            <input
              type="radio"
              name="level"
              checked={each.level === level}
              onChange={() => setLevel(each.level)}
            />
            <b>{each.level}</b>
            <span className="dim">{each.about}</span>
            <span className="size">{sizeAt(withPreviews(chosen, previews), each.level)}</span>
          </label>
        ))}
        <p className="dim">sent now: {countedText(tokensNow(chosen), false)}</p>
      </fieldset>
      {(single?.reasons ?? []).map((reason) => (
        <p key={reason} className="dim">
          {reason}
        </p>
      ))}
      {preview === undefined ? null : (
        <ScrollText label="Text at this level" className="short">
          {preview.text}
        </ScrollText>
      )}
    </ChangeDialog>
  );
}

type Preview = RouteAnswers["PreviewsAnswer"];

/** For more blocks than this, only stored sizes are shown. */
const previewedMax = 20;

/** The text and size of each block at every level. Null until they are read, or if there are too many. */
function usePreviews(session: string, blocks: readonly number[]): readonly Preview[] | null {
  const [previews, setPreviews] = useState<readonly Preview[] | null>(null);
  const previewed = blocks.length > previewedMax ? "" : blocks.join(",");
  useEffect(() => {
    let isCurrent = true;
    const paths = previewed.split(",").map((block) => `${sessionPath(session)}/blocks/${block}/levels`);
    if (previewed !== "")
      Promise.all(paths.map((path) => read<Preview>(path)))
        .then((all) => isCurrent && setPreviews(all))
        // The preview below shows the error; stored sizes are shown without these.
        .catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [session, previewed]);
  return previews;
}

/** The rows with the sizes of the previews instead of the stored ones. */
function withPreviews(rows: readonly BlockRow[], previews: readonly Preview[] | null): readonly BlockRow[] {
  const known = new Map(previews?.map(({ block, rows: levelRows }) => [block, levelRows]));
  return rows.map((row) => {
    const levelRows = known.get(row.n);
    if (levelRows === undefined) return row;
    return { ...row, sizes: Object.fromEntries(levelRows.map(({ level, tokens }) => [level, tokens])) };
  });
}

function tokensNow(rows: readonly BlockRow[]): number {
  return rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
}

/** The sum of all blocks at a level. A block without a shorter text counts as it is now. */
function sizeAt(rows: readonly BlockRow[], level: LowerLevel): string {
  const sizes = rows.map(({ sizes: known, tokens }) => known[level] ?? tokens ?? 0);
  const shorter = rows.filter(({ sizes: known }) => known[level] !== undefined).length;
  if (shorter === 0) return "no shorter text";
  const sum = sizes.reduce((total, size) => total + size, 0);
  return `~${tokensText(sum)}${shorter === rows.length ? "" : `, ${shorter} of ${rows.length} shorter`}`;
}
