import { useEffect, useState } from "react";
import { read } from "../api/client.ts";
import type { BlockRow, RouteAnswers } from "../api/contract.ts";
import { countedText, manyText, tokensText } from "../base/words.ts";
import { ScrollText } from "../parts/scroll-text.tsx";
import { sessionPath, wantedFor } from "./acts.ts";
import { Planned } from "./planned.tsx";

export type CompressProps = {
  readonly session: string;
  readonly blocks: readonly number[];
  readonly rows: readonly BlockRow[];
  readonly onClose: () => void;
};

const levels = [
  { level: "trimmed", about: "the middle of long texts goes; errors, names and numbers stay" },
  { level: "summarized", about: "the sentences that carry it" },
  { level: "minimal", about: "one line" },
] as const;
type LowerLevel = (typeof levels)[number]["level"];

/** To which level, with the size at each, and for a single block with its text. */
export function Compress({ session, blocks, rows, onClose }: CompressProps) {
  const [level, setLevel] = useState<LowerLevel>("trimmed");
  const chosen = rows.filter(({ n }) => blocks.includes(n));
  const previews = usePreviews(session, blocks);
  const single = blocks.length === 1 ? previews?.[0] : undefined;
  const preview = single?.rows.find((row) => row.level === level);
  return (
    <Planned
      session={session}
      title={`Compress ${manyText(blocks.length, "block")}`}
      wanted={{ ...wantedFor("compress", blocks), level }}
      onClose={onClose}
    >
      <fieldset className="choices">
        <legend>To which level</legend>
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
        <p className="dim">now {countedText(tokensNow(chosen), false)}</p>
      </fieldset>
      {(single?.reasons ?? []).map((reason) => (
        <p key={reason} className="dim">
          {reason}
        </p>
      ))}
      {preview === undefined ? null : (
        <ScrollText label="What would be shown" className="short">
          {preview.text}
        </ScrollText>
      )}
    </Planned>
  );
}

type Preview = RouteAnswers["PreviewsAnswer"];

/** Of more blocks than this, only what is known without asking is shown. */
const previewedMax = 20;

/** What each block would come to at every level; null: not read yet, or too many. */
function usePreviews(session: string, blocks: readonly number[]): readonly Preview[] | null {
  const [previews, setPreviews] = useState<readonly Preview[] | null>(null);
  const wanted = blocks.length > previewedMax ? "" : blocks.join(",");
  useEffect(() => {
    let isCurrent = true;
    const paths = wanted.split(",").map((block) => `${sessionPath(session)}/blocks/${block}/levels`);
    if (wanted !== "")
      Promise.all(paths.map((path) => read<Preview>(path)))
        .then((all) => isCurrent && setPreviews(all))
        // The plan below says what is wrong; sizes that are known already are shown without these.
        .catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [session, wanted]);
  return previews;
}

/** The rows with the sizes that were asked for, in the place of those that were made so far. */
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

/** Together, as far as that is known; what has nothing shorter stays as it is. */
function sizeAt(rows: readonly BlockRow[], level: LowerLevel): string {
  const sizes = rows.map(({ sizes: known, tokens }) => known[level] ?? tokens ?? 0);
  const made = rows.filter(({ sizes: known }) => known[level] !== undefined).length;
  if (made === 0) return "nothing shorter";
  const sum = sizes.reduce((total, size) => total + size, 0);
  return `~${tokensText(sum)}${made === rows.length ? "" : `, ${made} of ${rows.length} shorter`}`;
}
