import { hashContent, must } from "../../src/base/index.ts";
import { commandTools } from "../../src/commands/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { SentRequestUnit } from "../../src/exchange/index.ts";
import { instructions } from "../../src/notes/index.ts";
import { seen, sharedUnits, type UpstreamUnit } from "../support/upstream-units.ts";
import type { GoldenExchange, PlayedSession } from "./play-session.ts";
import type { GoldenSession } from "./session-file.ts";

const nonce = "k7f3";

/** A played session as text: for each request what is sent, how it differs, and what is recorded. */
export function sessionText(session: GoldenSession, { exchanges }: PlayedSession): string {
  const reasoning = reasoningBlocks(exchanges);
  const requests = exchanges.map((exchange, at) => {
    const before = seen(exchanges[at - 1]?.units ?? []);
    const units = seen(exchange.units);
    const shared = sharedUnits(before, units);
    const fresh = units.slice(shared).map((unit) => unitLine(unit, originOf(exchange, unit)));
    const same = shared === 0 ? [] : [`  = ${shared} units as before`];
    const frames = exchange.frames.flatMap((frame) => frameLines(frame, reasoning));
    const title = `${at + 1}. ${exchange.step.note}`;
    return [title, ...headLines(exchange), cacheLine(exchanges, at), ...same, ...fresh, ...frames].join("\n");
  });
  return `${session.about}\n\n${requests.join("\n\n")}\n`;
}

/** The manifests of a session to the byte. In the session itself they stand without their token counts. */
export function manifestsText(name: string, { exchanges }: PlayedSession): string {
  const lines = exchanges.flatMap((exchange, at) => {
    const shared = sharedUnits(seen(exchanges[at - 1]?.units ?? []), seen(exchange.units));
    const fresh = seen(exchange.units).slice(shared);
    return fresh.filter(({ text }) => isManifest(text)).map(({ text }) => `  ${at + 1}. ${text}`);
  });
  return `${[name, ...lines].join("\n")}\n`;
}

/** One line for each body that went upstream: its length and its hash. */
export function bodiesText(name: string, { exchanges }: PlayedSession): string {
  const lines = exchanges.map(({ posted }, at) => {
    const { body } = must(posted.attempts.at(-1), "the request was sent");
    return `  ${at + 1}. ${body.length} bytes, ${hashContent(body).slice(0, 16)}`;
  });
  return `${[name, ...lines].join("\n")}\n`;
}

/** Manifests and change notes count tokens of the whole prompt, our tools and instructions among them. */
export function isManifest(text: string): boolean {
  return /CONTEXT MANIFEST|context-manifest mark|k7f3 turn \d+: /.test(text);
}

export function withoutTokens(manifest: string): string {
  return manifest.replace(/([~-])\d[\d.]*k?|(?<=, )\d+%/g, "$1_");
}

/**
 * Our tools and instructions, each under the name that stands for it in the sessions: a change of one changes
 * one file.
 */
export function fixedTextsText(): string {
  const texts = [...fixedTexts].map(([text, name]) => `${name} ${hashContent(text).slice(0, 8)}\n${text}\n`);
  return texts.join("\n");
}

const fixedTexts: ReadonlyMap<string, string> = new Map([
  ...commandTools.map((tool) => [JSON.stringify(tool), `{tool ${tool.name}}`] as const),
  ...[true, false].map(
    (hasTools) =>
      [
        JSON.stringify({ type: "text", text: instructions(nonce, { hasTools }) }),
        `{instructions ${hasTools ? "with" : "without"} tools}`,
      ] as const,
  ),
]);

function headLines({ posted, step, units, client }: GoldenExchange): readonly string[] {
  const { sending, attempts } = posted;
  const body = JSON.parse(attempts.at(-1)?.body ?? "{}") as { readonly context_management?: unknown };
  const fields = Object.keys(body);
  const edit = client["context_management"] === undefined ? body.context_management : undefined;
  const edits = edit === undefined ? [] : [`  asks the provider: ${JSON.stringify(edit)}`];
  const refused = attempts.flatMap(({ problem }) => (problem === null ? [] : [`  refused: ${problem}`]));
  const betas = sending.betas.length === 0 ? [] : [`  beta added: ${sending.betas.join(", ")}`];
  const deferred = units.filter(({ isDeferred }) => isDeferred).map(({ text }) => nameIn(text));
  const later = deferred.length === 0 ? [] : [`  deferred tools: ${deferred.join(" ")}`];
  const where = step.target === undefined ? [] : [`  to ${step.target}`];
  return [
    `  ${sending.rendering}; fields: ${fields.join(" ")}`,
    ...where,
    ...betas,
    ...edits,
    ...refused,
    ...later,
  ];
}

/** The size of a request, and which request's cache it reads. */
function cacheLine(exchanges: readonly GoldenExchange[], at: number): string {
  const { units: all, posted } = must(exchanges[at], "it was sent");
  const units = seen(all);
  const shared = sharedUnits(seen(exchanges[at - 1]?.units ?? []), units);
  const size = `${units.length} units, ${units.length - shared} new`;
  const { usage } = posted.answer;
  if (usage === null) return `  ${size}`;
  const read = usage.cache_read_input_tokens;
  const source = exchanges.slice(0, at).findLastIndex((exchange) => cachedTokens(exchange) === read);
  const part = source === -1 ? "a part of a cache" : `the cache of request ${source + 1}`;
  const cache = read === 0 ? "reads no cache" : `reads ${part}`;
  return `  ${size}; ${cache}${usage.cache_creation_input_tokens === 0 ? ", writes none" : ""}`;
}

/** The tokens of the prefix that is cached after a request. */
function cachedTokens({ posted }: GoldenExchange): number {
  const { usage } = posted.answer;
  return usage === null ? 0 : usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

function nameIn(tool: string): string {
  return (JSON.parse(tool) as { readonly name: string }).name;
}

/** `>` begins a message. Ours is what the client never said. */
function unitLine(unit: UpstreamUnit, origin: string): string {
  const { section, role, head, mark } = unit;
  const who = section === "messages" ? role : section === "tools" ? "tool" : "system";
  const extra = head === null || head === `{"role":"${role}","content":[` ? "" : `${head} `;
  const marked = mark === null ? "" : `  <- mark ${mark}`;
  return `  ${head === null ? " " : ">"} ${who.padEnd(9)} ${origin.padEnd(8)} ${extra}${shownText(unit, origin)}${marked}`;
}

const ownTool = '{"name":"aperture_';

/** Our notes are printed whole: these files are about them. Our fixed texts are named, other texts cut. */
function shownText({ text }: UpstreamUnit, origin: string): string {
  const fixed = fixedTexts.get(text);
  if (fixed !== undefined) return fixed;
  if (origin === "aperture") return isManifest(text) ? withoutTokens(text) : text;
  const own = text.lastIndexOf(nonce);
  return own === -1 ? shortened(text) : `${text.slice(0, own)}${shortened(text.slice(own))}`;
}

/** By what the log is told; what goes raw, or is forgotten at once, is told by its words. */
export function originOf({ posted, units, client }: GoldenExchange, unit: UpstreamUnit): string {
  if (unit.text.startsWith(ownTool)) return "aperture";
  const fresh = posted.sending.sent?.fresh ?? [];
  const said = fresh.find((one: SentRequestUnit) => Buffer.from(one.bytes).toString() === unit.text);
  if (said !== undefined) return said.origin === "aperture" ? "aperture" : said.origin;
  const isTail = unit === units.at(-1) && !JSON.stringify(client).includes(unit.text.slice(24, -2));
  if (isTail || /\[k7f3 |mark k7f3|MANIFEST k7f3|\| k7f3 ---|\| k7f3\]/.test(unit.text)) return "aperture";
  return unit.role === "assistant" ? "model" : "client";
}

/** Without signatures, which change with every byte before them, and without the middle of long texts. */
export function shortened(text: string): string {
  const plain = text.replace(/"signature":"[^"]+"/g, '"signature":"..."');
  if (plain.length <= lineMax) return plain;
  return `${plain.slice(0, lineMax / 2)} ...${plain.length - lineMax} more... ${plain.slice(-lineMax / 2)}`;
}

const lineMax = 240;

/** One line for a frame and one for each of its deltas, without token counts. */
function frameLines(
  { session, seq, turn, actor, cause, deltas }: Frame,
  reasoning: ReadonlySet<number>,
): readonly string[] {
  const shown = deltas.filter(({ type }) => type !== "tokens-counted");
  return [
    `  | ${session} seq ${seq}, turn ${turn}, ${actor}: ${cause.type}`,
    ...shown.map((delta) => `  |   ${deltaLine(delta, reasoning)}`),
  ];
}

function reasoningBlocks(exchanges: readonly GoldenExchange[]): ReadonlySet<number> {
  const deltas = exchanges.flatMap(({ frames }) => frames).flatMap((frame) => frame.deltas);
  return new Set(
    deltas.flatMap((delta) =>
      delta.type === "block-added" && delta.block.kind === "reasoning" ? [delta.block.id] : [],
    ),
  );
}

/** Hashes are cut short. Signed reasoning has none, nor have our notes: each is printed where it is sent. */
export function deltaLine(
  delta: Frame["deltas"][number],
  reasoning: ReadonlySet<number> = new Set(),
): string {
  switch (delta.type) {
    case "block-added": {
      const { id, kind, message, pair, ttl, content } = delta.block;
      const rest = [pair === null ? "" : `, pair ${pair}`, ttl === null ? "" : `, until turn ${ttl.at}`];
      const hash = reasoning.has(id) ? "" : `, content ${content.slice(0, 8)}`;
      return `block-added #${id} ${kind}, message ${message}${rest.join("")}${hash}`;
    }
    case "unit-sent": {
      const { id, parent, origin, shows, bytes, cleared } = delta.unit;
      const by = cleared === true ? " by the provider" : "";
      const shown = shows.map(({ block, as }) => `, shows #${block} ${as}${by}`).join("");
      const isHashed = origin !== "aperture" && !shows.some(({ block }) => reasoning.has(block));
      const hash = bytes.slice(0, 8);
      return `unit-sent ${id} after ${parent ?? "nothing"}, ${origin}${shown}${isHashed ? `, bytes ${hash}` : ""}`;
    }
    // Renditions, usage and predictions have tests of their own.
    case "rendition-set":
      return `rendition-set #${delta.block} ${delta.level}`;
    case "turn-answered": {
      const { view, turn, outcome } = delta;
      return `turn-answered ${JSON.stringify({ view, turn, outcome })}`;
    }
    case "exchange-closed": {
      const { usage: _, bytes: __, ...end } = delta.end;
      return `exchange-closed ${JSON.stringify({ end })}`;
    }
    case "epoch-started": {
      const { type, predicted: _, ...fields } = delta;
      return `${type} ${JSON.stringify(fields)}`;
    }
    default: {
      const { type, ...fields } = delta;
      return `${type} ${JSON.stringify(fields)}`;
    }
  }
}
