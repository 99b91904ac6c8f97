import { formWords } from "../format/blocks.ts";
import { countedText, manyText } from "../format/numbers.ts";
import { windowText } from "../format/window.ts";
import type { Collected, ExportedBlock, ExportedStream } from "./collected.ts";
import type { Written } from "./jsonl.ts";
import { readable } from "./readable.ts";

/** To read: what was said, in order, with what is shown of it now. */
export function markdown({ session, state, blocks, others }: Collected, written: Written): string {
  const { version, isMasked } = written;
  const facts = [
    `- client ${session.client}, model ${session.model ?? "unknown"}, ${manyText(session.requests, "request")}`,
    `- window ${windowText(state.window)}, seq ${state.seq}`,
    `- written by Aperture ${version}${isMasked ? "; what looked like a secret is masked" : ""}`,
  ];
  const said = blocks.flatMap((block) => blockLines(block, written));
  const apart = others.flatMap((other) => streamLines(other, written));
  return [`# ${line(session.name)}`, "", ...facts, "", ...said, ...apart].join("\n");
}

function streamLines({ stream, blocks }: ExportedStream, written: Written): readonly string[] {
  const { turns } = stream;
  const said = blocks.flatMap((block) => blockLines(block, written));
  return [`# ${line(streamHeading(stream))}`, "", `- ${manyText(turns, "turn")}`, "", ...said];
}

/** By what it was asked; a name that only its client understands is the last resort. */
export function streamHeading({ title, name }: ExportedStream["stream"]): string {
  return `Sub-agent: ${title ?? name}`;
}

function blockLines(block: ExportedBlock, written: Written): readonly string[] {
  const { row } = block;
  const size = row.tokens === null ? "" : `, ${countedText(row.tokens, row.exact)} tokens`;
  const shown = row.shown === "original" ? "" : `, ${formWords[row.shown]}`;
  const text = readable(block, written);
  const fence = fenceFor(text);
  return [`## #${row.n} ${row.kind}, turn ${row.turn}${size}${shown}`, "", fence, text, fence, ""];
}

/** Longer than any fence inside, so that no content ends it. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([found]) => found.length));
  return "`".repeat(longest + 1);
}

function line(text: string): string {
  return text.replace(/\s+/g, " ");
}
