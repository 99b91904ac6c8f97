import { type Delta, type Frame, rewriteReasonTexts } from "../../engine/frames/index.ts";
import { blockList } from "./block-list.ts";
import { pluralText, tokensText } from "./number-text.ts";
import { printable } from "./printable.ts";

type DeltaPhrases = {
  readonly [T in Delta["type"]]: (deltas: readonly Extract<Delta, { type: T }>[]) => string;
};

/** Delta types that are only mentioned if a frame has no others. */
const quietTypes: ReadonlySet<Delta["type"]> = new Set([
  "view-opened",
  "ids-reserved",
  "run-started",
  "unit-sent",
  "tokens-counted",
  "reference-set",
  "ttl-set",
]);

/** The changes of a frame in words. */
export function frameText({ deltas }: Pick<Frame, "deltas">): string {
  const types = [...new Set(deltas.map(({ type }) => type))];
  const loud = types.filter((type) => !quietTypes.has(type));
  const phrasesOfFrame = (loud.length > 0 ? loud : types).map((type) => phrase(type, deltas));
  return phrasesOfFrame.length === 0 ? "nothing" : phrasesOfFrame.join("; ");
}

/** The same if only the delta types are known. */
export function deltaTypesText(types: readonly string[]): string {
  return types.length === 0
    ? "nothing"
    : types.map((type) => printable(type).replaceAll("-", " ")).join("; ");
}

function phrase(type: Delta["type"], deltas: readonly Delta[]): string {
  const known: Readonly<Record<string, unknown>> = phrases;
  // A newer Aperture may have more types. The table pairs each type with a function for exactly its deltas.
  const speak = known[type] as ((own: readonly Delta[]) => string) | undefined;
  const own = deltas.filter((delta) => delta.type === type);
  return speak === undefined ? deltaTypesText([type]) : speak(own);
}

const phrases: DeltaPhrases = {
  "stream-opened": (all) =>
    `opened ${namesText(
      "stream",
      all.map(({ name }) => name),
    )}`,
  "view-opened": (all) => `opened ${pluralText(all.length, "view")}`,
  "ids-reserved": () => "reserved ids",
  "run-started": (all) => `started run ${all.at(-1)?.to ?? "?"}`,
  "block-added": (all) => `added ${blocksText(all.map(({ block }) => block.id))}`,
  "block-removed": (all) => `removed ${blocksText(all.map(({ block }) => block.id))}`,
  "block-purged": (all) => `purged ${blocksText(all.map(({ block }) => block))}`,
  "tokens-counted": (all) => {
    const sum = all.reduce((total, { tokens }) => total + tokens.count, 0);
    return `counted ${blocksText(all.map(({ block }) => block))} (${tokensText(sum)})`;
  },
  "topics-set": (all) => `set topics of ${blocksOfDeltas(all)}`,
  "scope-set": (all) => `set the scope of ${blocksOfDeltas(all)}`,
  "rendition-set": (all) => `stored a shorter text of ${blocksOfDeltas(all)}`,
  "level-set": (all) => groupByVerb(all, ({ to }) => levelVerbs[to.value] ?? `set to ${to.value}`),
  "pin-set": (all) => groupByVerb(all, ({ to }) => (to.value === "none" ? "unpinned" : `pinned ${to.value}`)),
  "ttl-set": (all) => `set the turns left of ${blocksOfDeltas(all)}`,
  "focus-set": (all) => groupByVerb(all, ({ to }) => (to.value === null ? "unfocused" : "focused")),
  "selection-set": (all) => groupByVerb(all, ({ to }) => (to.value ? "selected" : "deselected")),
  "archive-set": (all) => groupByVerb(all, ({ to }) => (to.value === null ? "restored" : "archived")),
  "withhold-set": (all) => groupByVerb(all, ({ to }) => (to.value ? "withheld" : "released")),
  "reference-set": (all) => `referred to ${blocksOfDeltas(all)}`,
  "supersession-set": (all) =>
    groupByVerb(all, ({ to }) => (to.value === null ? "reinstated" : "marked as outdated")),
  "unit-sent": (all) => `sent ${pluralText(all.length, "unit")}`,
  "turn-sent": (all) => all.map(({ turn }) => `sent turn ${turn}`).join(", "),
  "turn-answered": (all) => all.map(({ turn, outcome }) => `turn ${turn} ${outcome}`).join(", "),
  "epoch-started": (all) =>
    all.map(({ reason }) => `rewrote the request (${rewriteReasonTexts[reason]})`).join(", "),
  "session-identified": (all) => `session of ${printable(all[0]?.identity.client ?? "unknown", 40)}`,
  "exchange-opened": (all) =>
    all.map(({ exchange }) => `request ${exchange.id} opened (${exchange.role})`).join(", "),
  "exchange-closed": (all) => all.map(({ end }) => endText(end)).join(", "),
  "approval-asked": (all) => all.map(({ approval }) => approvalText(approval)).join(", "),
  "approval-decided": (all) =>
    all.map(({ approval, to, reason }) => `approval ${approval} ${to}${reasonText(reason)}`).join(", "),
  "permission-set": (all) =>
    all
      .map(
        ({ actor, verb, to }) => `${permissionVerb(to)} ${printable(verb, 40)} by ${actor}${scopeText(to)}`,
      )
      .join(", "),
  "name-set": (all) => nameText(all.at(-1)?.to ?? null),
  "mode-set": (all) => `set the mode ${modeText(all.at(-1)?.to ?? null)}`,
};

/** The wording of the list of steps. */
const levelVerbs: Readonly<Partial<Record<string, string>>> = {
  original: "wanted whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "cut to the minimum",
};

type ApprovalDetails = Extract<Delta, { type: "approval-asked" }>["approval"];
type PermissionValue = Extract<Delta, { type: "permission-set" }>["to"];

function approvalText({ id, actor, command, why }: ApprovalDetails): string {
  return `${actor} asks for approval ${id}: ${printable(command, 80)}${reasonText(why)}`;
}

/**
 * The reason in brackets. It is left out if it repeats what the frame says: a command such as `@pin(#4)`, or
 * the name of the work that stored a shorter text.
 */
export function reasonText(reason: string, columnsMax = 80): string {
  const isRepetition = reason === "" || reason.startsWith("@") || reason === "renditions";
  return isRepetition ? "" : ` (${printable(reason, columnsMax)})`;
}

/** The wording of the list of steps. */
function permissionVerb(permission: PermissionValue): string {
  if (permission === null) return "removes the rule for";
  return { allow: "allows", ask: "asks about", deny: "denies" }[permission.rule];
}

function scopeText(permission: PermissionValue): string {
  if (permission === null) return "";
  return { once: " once", turn: " in this turn", session: " in this session" }[permission.scope];
}

function nameText(name: string | null): string {
  return name === null ? "removed the session's name" : `named the session "${printable(name, 60)}"`;
}

function modeText(mode: string | null): string {
  return mode === null ? "as configured" : `to ${mode}`;
}

type ExchangeEndDetails = Extract<Delta, { type: "exchange-closed" }>["end"];

function endText({ exchange, outcome, status, usage }: ExchangeEndDetails): string {
  const prompt = usage === null ? null : usage.input + usage.cacheRead + usage.cacheWrite;
  const figures = usage === null ? "" : `, ${tokensText(prompt ?? 0)} in, ${tokensText(usage.output)} out`;
  return `request ${exchange} ${outcome}${status === null ? "" : ` ${status}`}${figures}`;
}

function blocksOfDeltas(all: readonly { readonly block: number }[]): string {
  return blockList(all.map(({ block }) => block).sort((a, b) => a - b));
}

/** One phrase per verb, in the order of first appearance. */
function groupByVerb<D extends { readonly block: number }>(
  all: readonly D[],
  verbOf: (delta: D) => string,
): string {
  const verbs = [...new Set(all.map(verbOf))];
  return verbs
    .map((verb) => `${verb} ${blocksOfDeltas(all.filter((delta) => verbOf(delta) === verb))}`)
    .join(", ");
}

/** `#4`, `3 blocks (#4 to #6)`, or `3 blocks (#4 #9 #12)` if they are not consecutive. */
function blocksText(ids: readonly number[]): string {
  const [first, last] = [Math.min(...ids), Math.max(...ids)];
  if (ids.length === 1) return `#${first}`;
  const isRow = last - first + 1 === new Set(ids).size;
  const shown = ids.slice(0, 5).map((id) => `#${id}`);
  const some = `${shown.join(" ")}${ids.length > shown.length ? " …" : ""}`;
  return `${pluralText(ids.length, "block")} (${isRow ? `#${first} to #${last}` : some})`;
}

function namesText(noun: string, names: readonly string[]): string {
  return `${noun}${names.length === 1 ? "" : "s"} ${names.map((name) => printable(name, 40)).join(", ")}`;
}
