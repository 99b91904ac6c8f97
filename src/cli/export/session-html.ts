import { formNames } from "../format/block-list.ts";
import { countedText, tokensText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { windowText } from "../format/window-text.ts";
import {
  bodySides,
  type ExportedBlock,
  type ExportedRequest,
  type ExportedStream,
  type SessionExport,
} from "./collect-session.ts";
import type { ExportInfo } from "./jsonl.ts";
import { readableText } from "./readable-text.ts";
import { streamHeading } from "./session-markdown.ts";

/**
 * A self-contained page without scripts, addresses or images. Recorded text is escaped, and the content
 * security policy keeps it inert even if an escape was missed.
 */
export function sessionHtml(all: SessionExport, info: ExportInfo): string {
  const { version, isMasked } = info;
  const { session, state, blocks, others, requests } = all;
  const facts = `${session.client}, ${session.model ?? "unknown model"}, ${windowText(state.window)}, seq ${state.seq}`;
  const remark = isMasked
    ? "Texts that look like secrets are masked."
    : "Nothing is masked: this file may contain secrets.";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapedText(session.name)}</title>
<style>${style}</style></head><body>
<h1>${escapedText(session.name)}</h1>
<p>${escapedText(facts)}. Written by Aperture ${escapedText(version)}. ${remark}</p>
<h2>Blocks</h2>
${blocks.map((block) => blockHtml(block, info)).join("\n")}
${others.map((other) => streamHtml(other, info)).join("\n")}
<h2>Requests</h2>
${requests.map(requestHtml).join("\n")}
</body></html>`;
}

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.7rem;border-radius:.3rem}
summary{cursor:pointer;padding:.2rem 0}summary b{display:inline-block;min-width:4rem}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}`;

/** The start of a block's text that its summary line shows. */
const startColumnsMax = 80;

function streamHtml({ stream, blocks }: ExportedStream, info: ExportInfo): string {
  const body = blocks.map((block) => blockHtml(block, info)).join("\n");
  return `<h2>${escapedText(streamHeading(stream))}</h2>\n${body}`;
}

function blockHtml(block: ExportedBlock, info: ExportInfo): string {
  const { row } = block;
  const size = row.tokens === null ? "" : `, ${countedText(row.tokens, row.exact)} tokens`;
  const facts = `${row.kind}, turn ${row.turn}${size}, ${formNames[row.shown]}, ${row.zone}`;
  const text = readableText(block, info);
  const start = printable(text, startColumnsMax);
  return `<details><summary><b>#${row.n}</b> ${escapedText(facts)}: <i>${escapedText(start)}</i></summary><pre>${escapedText(text)}</pre></details>`;
}

function requestHtml({ row, texts }: ExportedRequest): string {
  const { usage } = row;
  const used =
    usage === null
      ? ""
      : `, in ${tokensText(usage.input + usage.cacheRead + usage.cacheWrite)}, out ${tokensText(usage.output)}`;
  const facts = `${row.role}, ${row.rendering}, ${row.model ?? "-"}, ${row.status ?? row.outcome}${used}`;
  const bodies = bodySides.map((side) => {
    const text = texts[side]?.text ?? "(not stored)";
    return `<details><summary>${side}</summary><pre>${escapedText(text)}</pre></details>`;
  });
  return `<details><summary><b>${row.id}</b> ${escapedText(facts)}</summary>${bodies.join("")}</details>`;
}

function escapedText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
