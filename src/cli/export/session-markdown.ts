import { formNames } from "../format/block-list.ts";
import { countedText, pluralText } from "../format/number-text.ts";
import { windowText } from "../format/window-text.ts";
import type { ExportedBlock, ExportedStream, SessionExport } from "./collect-session.ts";
import type { ExportInfo } from "./jsonl.ts";
import { readableText } from "./readable-text.ts";

/** The conversation to read, in order, with the form in which each block is sent. */
export function sessionMarkdown({ session, state, blocks, others }: SessionExport, info: ExportInfo): string {
  const { version, isMasked } = info;
  const facts = [
    `- client ${session.client}, model ${session.model ?? "unknown"}, ${pluralText(session.requests, "request")}`,
    `- window ${windowText(state.window)}, seq ${state.seq}`,
    `- written by Aperture ${version}${isMasked ? "; texts that look like secrets are masked" : ""}`,
  ];
  const main = blocks.flatMap((block) => blockLines(block, info));
  const rest = others.flatMap((other) => streamLines(other, info));
  return [`# ${line(session.name)}`, "", ...facts, "", ...main, ...rest].join("\n");
}

function streamLines({ stream, blocks }: ExportedStream, info: ExportInfo): readonly string[] {
  const { turns } = stream;
  const body = blocks.flatMap((block) => blockLines(block, info));
  return [`# ${line(streamHeading(stream))}`, "", `- ${pluralText(turns, "turn")}`, "", ...body];
}

/** The title is its first prompt. The name, which only the client understands, is the fallback. */
export function streamHeading({ title, name }: ExportedStream["stream"]): string {
  return `Sub-agent: ${title ?? name}`;
}

function blockLines(block: ExportedBlock, info: ExportInfo): readonly string[] {
  const { row } = block;
  const size = row.tokens === null ? "" : `, ${countedText(row.tokens, row.exact)} tokens`;
  const shown = row.shown === "original" ? "" : `, ${formNames[row.shown]}`;
  const text = readableText(block, info);
  const fence = fenceFor(text);
  return [`## #${row.n} ${row.kind}, turn ${row.turn}${size}${shown}`, "", fence, text, fence, ""];
}

/** A fence longer than any in the text, so that no content can end it. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([found]) => found.length));
  return "`".repeat(longest + 1);
}

function line(text: string): string {
  return text.replace(/\s+/g, " ");
}
