import { useState } from "react";
import type { BlockRow, Returned } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
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
  const [single] = blocks;
  const path = blocks.length === 1 ? `${sessionPath(session)}/blocks/${single}/levels` : null;
  const { data } = useResource<Returned["PreviewsAnswer"]>(path);
  const preview = data?.rows.find((row) => row.level === level);
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
            <span className="size">
              {data === null ? sizeAt(chosen, each.level) : previewSize(data, each.level)}
            </span>
          </label>
        ))}
        <p className="dim">now {countedText(tokensNow(chosen), false)}</p>
      </fieldset>
      {(data?.reasons ?? []).map((reason) => (
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

function previewSize({ rows }: Returned["PreviewsAnswer"], level: LowerLevel): string {
  const row = rows.find((each) => each.level === level);
  return row === undefined ? "nothing shorter" : `~${tokensText(row.tokens)}`;
}

function tokensNow(rows: readonly BlockRow[]): number {
  return rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
}

/** Together, as far as that is known; what has nothing shorter stays as it is. */
function sizeAt(rows: readonly BlockRow[], level: LowerLevel): string {
  const sizes = rows.map(({ sizes: known, tokens }) => known[level] ?? tokens ?? 0);
  const made = rows.filter(({ sizes: known }) => known[level] !== undefined).length;
  if (made === 0) return "nothing shorter yet";
  const sum = sizes.reduce((total, size) => total + size, 0);
  return `~${tokensText(sum)}${made === rows.length ? "" : `, ${made} of ${rows.length} shorter`}`;
}
