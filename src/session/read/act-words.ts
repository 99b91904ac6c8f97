import type { Delta, DeltaType, RewriteReason } from "../../engine/index.ts";

/** More blocks than these are counted, not listed. */
const listedMax = 8;

type Doing = { readonly verb: string; readonly block: number };

/**
 * What some changes did to blocks, or to what is allowed, for people: `trimmed #18 #20, archived #5`. Empty:
 * nothing worth it.
 */
export function actWords(deltas: readonly Delta[]): string {
  const said = loudIn(deltas);
  const verbs = [...new Set(said.map(({ verb }) => verb))];
  const onBlocks = verbs.map((verb) => `${verb} ${listed(said.filter((each) => each.verb === verb))}`);
  return [...onBlocks, ...deltas.flatMap(ruleWords)].join(", ");
}

/** The same in few words: `archived 3 blocks, trimmed 2 and pinned #31`. */
export function saidWords(deltas: readonly Delta[]): string {
  const said = loudIn(deltas);
  const verbs = [...new Set(said.map(({ verb }) => verb))];
  const parts = verbs.map((verb, at) => {
    const blocks = new Set(said.filter((each) => each.verb === verb).map(({ block }) => block));
    const [only] = blocks;
    if (blocks.size === 1) return `${verb} #${only}`;
    return `${verb} ${blocks.size}${at === 0 ? " blocks" : ""}`;
  });
  return joined([...parts, ...deltas.flatMap(ruleWords)]);
}

function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

/** The same without the blocks, where everybody knows which is meant: `trimmed, pinned`. */
export function verbsIn(deltas: readonly Delta[]): string {
  return [...new Set(loudIn(deltas).map(({ verb }) => verb.replace(/ of$/, "")))].join(", ");
}

/** That turns were given is said only where nothing else happened. */
function loudIn(deltas: readonly Delta[]): readonly Doing[] {
  const doings = deltas.flatMap(doingOf);
  const loud = doings.filter(({ verb }) => verb !== turnsGiven);
  return loud.length > 0 ? loud : doings;
}

/** What is about no block: what the user said for later. */
function ruleWords(delta: Delta): readonly string[] {
  if (delta.type === "mode-set")
    return [`set the mode ${delta.to === null ? "as configured" : `to ${delta.to}`}`];
  if (delta.type === "name-set")
    return [delta.to === null ? "took the session's name back" : `named the session "${delta.to}"`];
  if (delta.type !== "permission-set") return [];
  const { actor, verb, to } = delta;
  if (to === null) return [`took back what was said about ${verb} by ${actor}`];
  return [`${permissionWords[to.rule]} ${verb} by ${actor} ${scopeWords[to.scope]}`];
}

const permissionWords = { allow: "allowed", ask: "asked to be asked about", deny: "denied" } as const;
const scopeWords = { once: "once", turn: "in this turn", session: "in this session" } as const;

/** The blocks that some changes are about, in their order. */
export function blocksIn(deltas: readonly Delta[]): readonly number[] {
  return [...new Set(deltas.flatMap(doingOf).map(({ block }) => block))].sort((a, b) => a - b);
}

function listed(doings: readonly Doing[]): string {
  const blocks = [...new Set(doings.map(({ block }) => block))].sort((a, b) => a - b);
  const more = blocks.length - listedMax;
  const some = blocks.slice(0, listedMax).map((block) => `#${block}`);
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

const turnsGiven = "set the turns of";

const levelVerbs = {
  original: "wanted whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "cut to the minimum",
} as const;

function doingOf(delta: Delta): readonly Doing[] {
  const verb = verbOf(delta);
  if (verb === null || !("block" in delta)) return [];
  return [{ verb, block: typeof delta.block === "number" ? delta.block : delta.block.id }];
}

/** Null for what is bookkeeping: nobody did it to a block. */
function verbOf(delta: Delta): string | null {
  switch (delta.type) {
    case "level-set":
      return levelVerbs[delta.to.value];
    case "archive-set":
      return delta.to.value === null ? "restored" : "archived";
    case "pin-set":
      return delta.to.value === "none" ? "unpinned" : "pinned";
    case "focus-set":
      return delta.to.value === null ? "unfocused" : "focused";
    case "selection-set":
      return delta.to.value ? "selected" : "deselected";
    case "withhold-set":
      return delta.to.value ? "withheld" : "released";
    case "supersession-set":
      return delta.to.value === null ? "reinstated" : "marked as outdated";
    default:
      return otherVerbs[delta.type] ?? null;
  }
}

const otherVerbs: Readonly<Partial<Record<DeltaType, string>>> = {
  "ttl-set": turnsGiven,
  "topics-set": "set the topics of",
  "scope-set": "set the scope of",
  "rendition-set": "wrote a level of",
  "block-added": "added",
  "block-removed": "removed",
};

/** Why the transcript was written anew, for people. */
export const rewriteWords: Readonly<Record<RewriteReason, string>> = {
  cold: "the cache had gone cold",
  fork: "the client went another way",
  model: "another model answers",
  price: "it pays for itself",
  pressure: "window pressure",
  user: "the user asked for it",
};
