import type { Delta } from "../engine/frames/index.ts";

/** A text names this many blocks and counts the rest. */
const listedMax = 8;

/** A verb in the past tense and the block it was done to. */
type BlockAct = { readonly verb: string; readonly block: number };

/**
 * Describes for people what deltas did to blocks and rules: `trimmed #18 #20, archived #5`. Empty if the
 * deltas are only bookkeeping.
 */
export function describeActs(deltas: readonly Delta[]): string {
  const acts = notableActs(deltas);
  const verbs = [...new Set(acts.map(({ verb }) => verb))];
  const onBlocks = verbs.map((verb) => `${verb} ${listBlocks(acts.filter((act) => act.verb === verb))}`);
  return [...onBlocks, ...deltas.flatMap(ruleActs)].join(", ");
}

/** A shorter description that counts blocks: `archived 3 blocks, trimmed 2 and pinned #31`. */
export function summarizeActs(deltas: readonly Delta[]): string {
  const acts = notableActs(deltas);
  const verbs = [...new Set(acts.map(({ verb }) => verb))];
  const parts = verbs.map((verb, at) => {
    const blocks = new Set(acts.filter((act) => act.verb === verb).map(({ block }) => block));
    const [only] = blocks;
    if (blocks.size === 1) return `${verb} #${only}`;
    return `${verb} ${blocks.size}${at === 0 ? " blocks" : ""}`;
  });
  return joinWithAnd([...parts, ...deltas.flatMap(ruleActs)]);
}

function joinWithAnd(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

/** Only the verbs, for a place that shows one known block: `trimmed, pinned`. */
export function actVerbs(deltas: readonly Delta[]): string {
  return [...new Set(notableActs(deltas).map(({ verb }) => verb.replace(/ of$/, "")))].join(", ");
}

/** Leaves out changes of the turns left, unless nothing else happened. */
function notableActs(deltas: readonly Delta[]): readonly BlockAct[] {
  const acts = deltas.flatMap(blockActsOf);
  const notable = acts.filter(({ verb }) => verb !== ttlVerb);
  return notable.length > 0 ? notable : acts;
}

/** Changes of rules, which concern no block: mode, name and permissions. */
function ruleActs(delta: Delta): readonly string[] {
  if (delta.type === "mode-set")
    return [`set the mode ${delta.to === null ? "as configured" : `to ${delta.to}`}`];
  if (delta.type === "name-set")
    return [delta.to === null ? "removed the session's name" : `named the session "${delta.to}"`];
  if (delta.type !== "permission-set") return [];
  const { actor, verb, to } = delta;
  if (to === null) return [`removed the rule for ${verb} by ${actor}`];
  return [`${permissionVerbs[to.rule]} ${verb} by ${actor} ${scopeTexts[to.scope]}`];
}

const permissionVerbs = { allow: "allowed", ask: "required approval of", deny: "denied" } as const;
const scopeTexts = { once: "once", turn: "in this turn", session: "in this session" } as const;

/** Ids of the blocks that deltas changed, ascending. */
export function actBlocks(deltas: readonly Delta[]): readonly number[] {
  return [...new Set(deltas.flatMap(blockActsOf).map(({ block }) => block))].sort((a, b) => a - b);
}

function listBlocks(acts: readonly BlockAct[]): string {
  const blocks = [...new Set(acts.map(({ block }) => block))].sort((a, b) => a - b);
  const more = blocks.length - listedMax;
  const some = blocks.slice(0, listedMax).map((block) => `#${block}`);
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

const ttlVerb = "set the turns left of";

const levelVerbs = {
  original: "restored",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "cut to the minimum",
} as const;

function blockActsOf(delta: Delta): readonly BlockAct[] {
  const verb = verbOf(delta);
  if (verb === null || !("block" in delta)) return [];
  return [{ verb, block: typeof delta.block === "number" ? delta.block : delta.block.id }];
}

/** Null for bookkeeping, which is not an act on a block. */
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

const otherVerbs: Readonly<Partial<Record<Delta["type"], string>>> = {
  "ttl-set": ttlVerb,
  "topics-set": "set the topics of",
  "scope-set": "set the scope of",
  "rendition-set": "stored a shorter text of",
  "block-added": "added",
  "block-removed": "removed",
};
