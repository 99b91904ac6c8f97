import type { Frame } from "../../src/engine/frames/index.ts";
import type { SentRequestUnit } from "../../src/exchange/index.ts";
import { seen, sharedUnits, type UpstreamUnit } from "../support/upstream-units.ts";
import type { GoldenExchange, Played } from "./play-session.ts";
import type { GoldenSession } from "./session-file.ts";

/** The files that a session is compared with. */
export function goldenFiles(session: GoldenSession, played: Played): ReadonlyMap<string, string> {
  return new Map([
    ["upstream.txt", `${session.about}\n\n${upstreamText(played.exchanges)}`],
    ["cache.txt", cacheText(played.exchanges)],
    ["frames.txt", framesText(played.frames)],
  ]);
}

/** Each body as it went upstream, one unit a line; what the one before had too is counted, not repeated. */
function upstreamText(exchanges: readonly GoldenExchange[]): string {
  let before: readonly UpstreamUnit[] = [];
  const texts = exchanges.map((exchange, at) => {
    const units = seen(exchange.units);
    const shared = sharedUnits(before, units);
    const fresh = units.slice(shared).map((unit) => unitLine(unit, originOf(exchange, unit)));
    const same = shared === 0 ? [] : [`  = ${shared} units as before`];
    before = units;
    return [`${at + 1}. ${exchange.step.note}`, ...headLines(exchange), ...same, ...fresh].join("\n");
  });
  return `${texts.join("\n\n")}\n`;
}

function headLines({ posted, step, units, client }: GoldenExchange): readonly string[] {
  const { sending, attempts } = posted;
  const body = JSON.parse(attempts.at(-1)?.body ?? "{}") as { readonly context_management?: unknown };
  const fields = Object.keys(body);
  const edit = client["context_management"] === undefined ? body.context_management : undefined;
  const asked = edit === undefined ? [] : [`  asks the provider: ${JSON.stringify(edit)}`];
  const refused = attempts.flatMap(({ problem }) => (problem === null ? [] : [`  refused: ${problem}`]));
  const betas = sending.betas.length === 0 ? [] : [`  beta added: ${sending.betas.join(", ")}`];
  const deferred = units.filter(({ isDeferred }) => isDeferred).map(({ text }) => nameIn(text));
  const later = deferred.length === 0 ? [] : [`  deferred tools: ${deferred.join(" ")}`];
  const where = step.target === undefined ? [] : [`  to ${step.target}`];
  return [
    `  ${sending.rendering}; fields: ${fields.join(" ")}`,
    ...where,
    ...betas,
    ...asked,
    ...refused,
    ...later,
  ];
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

/** Our lines are what these files are about; only what is always the same in front is cut like others. */
function shownText({ text }: UpstreamUnit, origin: string): string {
  if (text.includes("# Context notes") || text.startsWith(ownTool)) return shortened(text);
  if (origin === "aperture") return text;
  const told = text.lastIndexOf(nonce);
  return told === -1 ? shortened(text) : `${text.slice(0, told)}${shortened(text.slice(told))}`;
}

const nonce = "k7f3";

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

/** Signatures say nothing to a reader, and long texts say it soon. */
export function shortened(text: string): string {
  const plain = text.replace(/"signature":"([^"]{8})[^"]*"/g, '"signature":"$1..."');
  if (plain.length <= lineMax) return plain;
  return `${plain.slice(0, lineMax / 2)} ...${plain.length - lineMax} more... ${plain.slice(-lineMax / 2)}`;
}

const lineMax = 240;

/** How much of each body the upstream had seen before, and what its cache says to it. */
export function cacheText(exchanges: readonly GoldenExchange[]): string {
  const rows = [["step", "rendering", "units", "shared", "bytes", "shared", "read", "written", "neither"]];
  let before: readonly UpstreamUnit[] = [];
  for (const [at, { units: all, posted }] of exchanges.entries()) {
    const units = seen(all);
    const shared = sharedUnits(before, units);
    const { usage } = posted.answer;
    const counts =
      usage === null
        ? ["-", "-", "-"]
        : [
            String(usage.cache_read_input_tokens),
            String(usage.cache_creation_input_tokens),
            String(usage.input_tokens),
          ];
    const bytes = [bytesOf(units), bytesOf(units.slice(0, shared))].map(String);
    rows.push([`${at + 1}`, posted.sending.rendering, `${units.length}`, `${shared}`, ...bytes, ...counts]);
    before = units;
  }
  return `${rows.map(rowText).join("\n")}\n`;
}

function bytesOf(units: readonly UpstreamUnit[]): number {
  return units.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

function rowText(cells: readonly string[]): string {
  const widths = [4, 10, 6, 7, 7, 7, 7, 8, 8];
  return cells.map((cell, at) => (at === 1 ? cell.padEnd(10) : cell.padStart(widths[at] ?? 0))).join(" ");
}

/** One line for each frame and one for each of its deltas; hashes are cut short, counts left out. */
function framesText(frames: readonly Frame[]): string {
  const lines = frames.flatMap(({ session, seq, turn, actor, cause, deltas }) => [
    `${session} seq ${seq}, turn ${turn}, ${actor}: ${cause.type}`,
    ...deltas.filter(({ type }) => type !== "tokens-counted").map((delta) => `    ${deltaLine(delta)}`),
  ]);
  return `${lines.join("\n")}\n`;
}

export function deltaLine(delta: Frame["deltas"][number]): string {
  if (delta.type === "block-added") {
    const { id, kind, message, pair, ttl, content } = delta.block;
    const rest = [pair === null ? "" : `, pair ${pair}`, ttl === null ? "" : `, until turn ${ttl.at}`];
    return `block-added #${id} ${kind}, message ${message}${rest.join("")}, content ${content.slice(0, 8)}`;
  }
  if (delta.type === "unit-sent") {
    const { id, parent, origin, shows, bytes, cleared } = delta.unit;
    const by = cleared === true ? " by the provider" : "";
    const shown = shows.map(({ block, as }) => `, shows #${block} ${as}${by}`).join("");
    return `unit-sent ${id} after ${parent ?? "nothing"}, ${origin}${shown}, bytes ${bytes.slice(0, 8)}`;
  }
  // How a rendition is made is tested where it is made.
  if (delta.type === "rendition-set") return `rendition-set #${delta.block} ${delta.level}`;
  const { type, ...fields } = delta;
  return `${type} ${JSON.stringify(fields)}`;
}
