import { formWords } from "../format/blocks.ts";
import { countedText, tokensText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { windowText } from "../format/window.ts";
import {
  bodySides,
  type Collected,
  type ExportedBlock,
  type ExportedRequest,
  type ExportedStream,
} from "./collected.ts";
import type { Written } from "./jsonl.ts";
import { streamHeading } from "./markdown.ts";
import { readable } from "./readable.ts";

/**
 * One file that needs nothing else: no script, no address, no picture. What others wrote stands in it as text
 * only, and the policy in its head keeps it that way even if we should have missed something.
 */
export function html(all: Collected, written: Written): string {
  const { version, isMasked } = written;
  const { session, state, blocks, others, requests } = all;
  const facts = `${session.client}, ${session.model ?? "unknown model"}, ${windowText(state.window)}, seq ${state.seq}`;
  const remark = isMasked
    ? "What looked like a secret is masked."
    : "Nothing is masked: it may hold secrets.";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(session.name)}</title>
<style>${style}</style></head><body>
<h1>${escaped(session.name)}</h1>
<p>${escaped(facts)}. Written by Aperture ${escaped(version)}. ${remark}</p>
<h2>Blocks</h2>
${blocks.map((block) => blockHtml(block, written)).join("\n")}
${others.map((other) => streamHtml(other, written)).join("\n")}
<h2>Requests</h2>
${requests.map(requestHtml).join("\n")}
</body></html>`;
}

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.7rem;border-radius:.3rem}
summary{cursor:pointer;padding:.2rem 0}summary b{display:inline-block;min-width:4rem}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}`;

/** So much of a block stands beside its number. */
const startColumnsMax = 80;

function streamHtml({ stream, blocks }: ExportedStream, written: Written): string {
  const said = blocks.map((block) => blockHtml(block, written)).join("\n");
  return `<h2>${escaped(streamHeading(stream))}</h2>\n${said}`;
}

function blockHtml(block: ExportedBlock, written: Written): string {
  const { row } = block;
  const size = row.tokens === null ? "" : `, ${countedText(row.tokens, row.exact)} tokens`;
  const says = `${row.kind}, turn ${row.turn}${size}, ${formWords[row.shown]}, ${row.zone}`;
  const text = readable(block, written);
  const start = printable(text, startColumnsMax);
  return `<details><summary><b>#${row.n}</b> ${escaped(says)}: <i>${escaped(start)}</i></summary><pre>${escaped(text)}</pre></details>`;
}

function requestHtml({ row, texts }: ExportedRequest): string {
  const { usage } = row;
  const used =
    usage === null
      ? ""
      : `, in ${tokensText(usage.input + usage.cacheRead + usage.cacheWrite)}, out ${tokensText(usage.output)}`;
  const says = `${row.role}, ${row.rendering}, ${row.model ?? "-"}, ${row.status ?? row.outcome}${used}`;
  const bodies = bodySides.map((side) => {
    const text = texts[side]?.text ?? "(not stored)";
    return `<details><summary>${side}</summary><pre>${escaped(text)}</pre></details>`;
  });
  return `<details><summary><b>${row.id}</b> ${escaped(says)}</summary>${bodies.join("")}</details>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
