import type { Delta, DeltaType, Frame } from "../../engine/index.ts";
import { blockList } from "./blocks.ts";
import { manyText, tokensText } from "./numbers.ts";
import { printable } from "./printable.ts";

type Phrases = { readonly [T in DeltaType]: (deltas: readonly Extract<Delta, { type: T }>[]) => string };

/** Part of the bookkeeping: said only where nothing else happened. */
const quiet: ReadonlySet<DeltaType> = new Set([
  "view-opened",
  "ids-reserved",
  "run-started",
  "unit-sent",
  "tokens-counted",
  "reference-set",
  "ttl-set",
]);

/** What changed in a frame, in words. */
export function frameWords({ deltas }: Pick<Frame, "deltas">): string {
  const types = [...new Set(deltas.map(({ type }) => type))];
  const loud = types.filter((type) => !quiet.has(type));
  const said = (loud.length > 0 ? loud : types).map((type) => phrase(type, deltas));
  return said.length === 0 ? "nothing" : said.join("; ");
}

/** The same where only the kinds of change are known. */
export function typesInWords(types: readonly string[]): string {
  return types.length === 0
    ? "nothing"
    : types.map((type) => printable(type).replaceAll("-", " ")).join("; ");
}

function phrase(type: DeltaType, deltas: readonly Delta[]): string {
  const known: Readonly<Record<string, unknown>> = phrases;
  // A newer Aperture may know more. The table pairs each type with a function for exactly its deltas.
  const speak = known[type] as ((own: readonly Delta[]) => string) | undefined;
  const own = deltas.filter((delta) => delta.type === type);
  return speak === undefined ? typesInWords([type]) : speak(own);
}

const phrases: Phrases = {
  "stream-opened": (all) =>
    `opened ${listed(
      "stream",
      all.map(({ name }) => name),
    )}`,
  "view-opened": (all) => `opened ${manyText(all.length, "view")}`,
  "ids-reserved": () => "reserved ids",
  "run-started": (all) => `started run ${all.at(-1)?.to ?? "?"}`,
  "block-added": (all) => `added ${blocksText(all.map(({ block }) => block.id))}`,
  "block-removed": (all) => `removed ${blocksText(all.map(({ block }) => block.id))}`,
  "block-purged": (all) => `purged ${blocksText(all.map(({ block }) => block))}`,
  "tokens-counted": (all) => {
    const sum = all.reduce((total, { tokens }) => total + tokens.count, 0);
    return `counted ${blocksText(all.map(({ block }) => block))} (${tokensText(sum)})`;
  },
  "topics-set": (all) => `set topics of ${changed(all)}`,
  "scope-set": (all) => `set the scope of ${changed(all)}`,
  "rendition-set": (all) => `wrote a level of ${changed(all)}`,
  "level-set": (all) => grouped(all, ({ to }) => levelVerbs[to.value] ?? `set to ${to.value}`),
  "pin-set": (all) => grouped(all, ({ to }) => (to.value === "none" ? "unpinned" : `pinned ${to.value}`)),
  "ttl-set": (all) => `set the ttl of ${changed(all)}`,
  "focus-set": (all) => grouped(all, ({ to }) => (to.value === null ? "unfocused" : "focused")),
  "selection-set": (all) => grouped(all, ({ to }) => (to.value ? "selected" : "deselected")),
  "archive-set": (all) => grouped(all, ({ to }) => (to.value === null ? "restored" : "archived")),
  "withhold-set": (all) => grouped(all, ({ to }) => (to.value ? "withheld" : "released")),
  "reference-set": (all) => `referred to ${changed(all)}`,
  "supersession-set": (all) =>
    grouped(all, ({ to }) => (to.value === null ? "reinstated" : "marked as outdated")),
  "unit-sent": (all) => `sent ${manyText(all.length, "unit")}`,
  "turn-sent": (all) => all.map(({ turn }) => `sent turn ${turn}`).join(", "),
  "turn-answered": (all) => all.map(({ turn, outcome }) => `turn ${turn} ${outcome}`).join(", "),
  "epoch-started": (all) =>
    all.map(({ reason }) => `wrote the transcript anew (${rewriteReasons[reason] ?? reason})`).join(", "),
  "session-identified": (all) => `session of ${printable(all[0]?.identity.client ?? "unknown", 40)}`,
  "exchange-opened": (all) =>
    all.map(({ exchange }) => `request ${exchange.id} opened (${exchange.role})`).join(", "),
  "exchange-closed": (all) => all.map(({ end }) => endText(end)).join(", "),
  "approval-asked": (all) => all.map(({ approval }) => askedText(approval)).join(", "),
  "approval-decided": (all) =>
    all.map(({ approval, to, reason }) => `approval ${approval} ${to}${inBrackets(reason)}`).join(", "),
  "permission-set": (all) =>
    all
      .map(
        ({ actor, verb, to }) => `${permissionVerb(to)} ${printable(verb, 40)} by ${actor}${scopeText(to)}`,
      )
      .join(", "),
  "name-set": (all) => nameText(all.at(-1)?.to ?? null),
  "mode-set": (all) => `set the mode ${modeText(all.at(-1)?.to ?? null)}`,
};

/** As the rows of requests say it. */
const rewriteReasons: Readonly<Partial<Record<string, string>>> = {
  cold: "the cache had gone cold",
  fork: "the client went another way",
  model: "another model answers",
  price: "it pays for itself",
  pressure: "window pressure",
  user: "the user asked for it",
};

/** As the list of steps says it. */
const levelVerbs: Readonly<Partial<Record<string, string>>> = {
  original: "wanted whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "cut to the minimum",
};

type Asked = Extract<Delta, { type: "approval-asked" }>["approval"];
type Permission = Extract<Delta, { type: "permission-set" }>["to"];

function askedText({ id, actor, command, why }: Asked): string {
  return `${actor} asks for approval ${id}: ${printable(command, 80)}${inBrackets(why)}`;
}

function inBrackets(reason: string): string {
  return reason === "" ? "" : ` (${printable(reason, 80)})`;
}

/** As the list of steps says it, and so for the scope. */
function permissionVerb(permission: Permission): string {
  if (permission === null) return "takes back what was said about";
  return { allow: "allows", ask: "wants to be asked about", deny: "denies" }[permission.rule];
}

function scopeText(permission: Permission): string {
  if (permission === null) return "";
  return { once: " once", turn: " in this turn", session: " in this session" }[permission.scope];
}

function nameText(name: string | null): string {
  return name === null ? "took the session's name back" : `named the session "${printable(name, 60)}"`;
}

function modeText(mode: string | null): string {
  return mode === null ? "as it is configured" : `to ${mode}`;
}

type End = Extract<Delta, { type: "exchange-closed" }>["end"];

function endText({ exchange, outcome, status, usage }: End): string {
  const prompt = usage === null ? null : usage.input + usage.cacheRead + usage.cacheWrite;
  const figures = usage === null ? "" : `, ${tokensText(prompt ?? 0)} in, ${tokensText(usage.output)} out`;
  return `request ${exchange} ${outcome}${status === null ? "" : ` ${status}`}${figures}`;
}

function changed(all: readonly { readonly block: number }[]): string {
  return blockList(all.map(({ block }) => block).sort((a, b) => a - b));
}

/** One phrase per verb, in the order in which the verbs first appear. */
function grouped<D extends { readonly block: number }>(
  all: readonly D[],
  verbOf: (delta: D) => string,
): string {
  const verbs = [...new Set(all.map(verbOf))];
  return verbs.map((verb) => `${verb} ${changed(all.filter((delta) => verbOf(delta) === verb))}`).join(", ");
}

/** `#4`, `3 blocks (#4 to #6)` or, where they do not follow each other, `3 blocks (#4 #9 #12)`. */
function blocksText(ids: readonly number[]): string {
  const [first, last] = [Math.min(...ids), Math.max(...ids)];
  if (ids.length === 1) return `#${first}`;
  const isRow = last - first + 1 === new Set(ids).size;
  const shown = ids.slice(0, 5).map((id) => `#${id}`);
  const some = `${shown.join(" ")}${ids.length > shown.length ? " …" : ""}`;
  return `${manyText(ids.length, "block")} (${isRow ? `#${first} to #${last}` : some})`;
}

function listed(noun: string, names: readonly string[]): string {
  return `${noun}${names.length === 1 ? "" : "s"} ${names.map((name) => printable(name, 40)).join(", ")}`;
}
