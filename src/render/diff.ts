import { type BlockId, must, sameData, type ViewId } from "../base/index.ts";
import {
  type Actor,
  type Delta,
  type FactDelta,
  type FactValues,
  type Frame,
  type Level,
  levels,
  type Moment,
  placeOf,
  shownOf,
  type View,
  viewOf,
  wantedOf,
} from "../engine/index.ts";
import { approvalChanges } from "./approval-changes.ts";
import type { Change, ChangeWord } from "./change.ts";
import { idsText, sizeText } from "./numbers.ts";
import { safeText, shortened } from "./safe-text.ts";
import { tokensShown } from "./shown-tokens.ts";

export { type Change, type ChangeWord, changeWords } from "./change.ts";

/** A change of one block, before neighbours are put together. */
type Single = {
  readonly actor: Actor;
  readonly what: ChangeWord;
  readonly block: BlockId;
  readonly reason: string;
  readonly by: number | null;
  /** The step, or the frame where there is none. */
  readonly group: string;
};

/** What is true of one thing about a block: before the first frame and after the last. */
type Span = { readonly first: unknown; readonly last: Delta; readonly frame: Frame };

/** What the frames changed in a view, from first to last. What was taken back again is no change. */
export function changesIn(frames: readonly Frame[], moment: Moment, view: ViewId): readonly Change[] {
  const seen = must(viewOf(moment, view), "changes are asked of a view that is open");
  const spans = new Map<string, Span>();
  for (const frame of frames) {
    for (const delta of frame.deltas) addSpan(spans, { frame, delta, view: seen });
  }
  const singles = [...spans.values()]
    .flatMap((span) => singleOf(span) ?? [])
    .filter(({ block }) => placeOf(moment, seen, block) !== null);
  const archived = new Set(singles.filter(({ what }) => what === "archived").map(({ block }) => block));
  // What was put away altogether need not be said to have been lowered before.
  const telling = singles.filter(({ what, block }) => what !== "compressed" || !archived.has(block));
  return [...grouped(telling, moment, seen), ...approvalChanges(frames, moment, view)];
}

/** Of the frames what `changesIn` looks at: little enough to be kept of a long session. */
export function tellingFrames(frames: readonly Frame[], view: View): readonly Frame[] {
  const isTelling = (delta: Delta): boolean =>
    delta.type === "approval-asked" || delta.type === "approval-decided" || keyOf(delta, view) !== null;
  return frames
    .map((frame) => ({ ...frame, deltas: frame.deltas.filter(isTelling) }))
    .filter(({ deltas }) => deltas.length > 0);
}

type Seen = { readonly frame: Frame; readonly delta: Delta; readonly view: View };

function addSpan(spans: Map<string, Span>, { frame, delta, view }: Seen): void {
  const key = keyOf(delta, view);
  if (key === null) return;
  const known = spans.get(key);
  const first = known === undefined ? valueBefore(delta) : known.first;
  // Moved to the end: a change stands where it last happened.
  spans.delete(key);
  spans.set(key, { first, last: delta, frame });
}

/** What a delta is about, if it is about something a reader is told. */
function keyOf(delta: Delta, view: View): string | null {
  switch (delta.type) {
    case "block-added":
    case "block-removed":
      return delta.block.kind === "memory" ? `memory ${delta.block.id}` : null;
    case "block-purged":
      return `purged ${delta.block}`;
    case "archive-set":
    case "pin-set":
    case "level-set":
    case "focus-set":
    case "selection-set":
    case "withhold-set":
    case "supersession-set":
      return delta.view === view.id ? `${delta.type} ${delta.block}` : null;
    default:
      return null;
  }
}

function valueBefore(delta: Delta): unknown {
  if (delta.type === "block-added") return false;
  if (delta.type === "block-removed") return true;
  return "from" in delta ? (delta as FactDelta).from.value : null;
}

function valueAfter(delta: Delta): unknown {
  if (delta.type === "block-added") return true;
  if (delta.type === "block-removed") return false;
  return "to" in delta ? (delta as FactDelta).to.value : true;
}

function singleOf({ first, last, frame }: Span): Single | null {
  if (sameData(first, valueAfter(last))) return null;
  const named = nameOf(first, last);
  if (named === null || !("block" in last)) return null;
  const block = typeof last.block === "number" ? last.block : last.block.id;
  const { step, reason } = frame.cause;
  const told = named.reason ?? (named.what === "compressed" ? reason : "");
  const group = step === null ? `frame ${frame.seq}` : `step ${step}`;
  return { actor: frame.actor, what: named.what, block, reason: told, by: named.by ?? null, group };
}

type Named = { readonly what: ChangeWord; readonly reason?: string; readonly by?: number };

function nameOf(first: unknown, delta: Delta): Named | null {
  switch (delta.type) {
    case "block-added":
      return { what: delta.block.supersedes === null ? "created" : "updated" };
    case "block-purged":
      return { what: "purged" };
    case "archive-set": {
      const { value } = delta.to;
      return value === null ? { what: "restored" } : { what: "archived", reason: value.reason };
    }
    case "pin-set":
      return { what: delta.to.value === "none" ? "unpinned" : "pinned" };
    case "level-set": {
      const lowers = levels.indexOf(delta.to.value) > levels.indexOf(first as Level);
      return { what: lowers ? "compressed" : "expanded" };
    }
    case "focus-set":
      return delta.to.value === null ? null : { what: "focused" };
    case "selection-set":
      return { what: delta.to.value ? "selected" : "deselected" };
    case "withhold-set":
      return { what: delta.to.value ? "withheld" : "released" };
    case "supersession-set":
      return supersession(delta.to.value);
    default:
      return null;
  }
}

function supersession(by: FactValues["supersession"]): Named | null {
  return by === null ? null : { what: "superseded", by };
}

function grouped(singles: readonly Single[], moment: Moment, view: View): readonly Change[] {
  const groups = new Map<string, Single[]>();
  for (const single of singles) {
    const { actor, what, reason, by, group } = single;
    const key = JSON.stringify([group, actor, what, reason, by]);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [single]);
    else members.push(single);
  }
  return [...groups.values()].map((members) => changeOf(members, moment, view));
}

function changeOf(members: readonly Single[], moment: Moment, view: View): Change {
  const { actor, what, reason, by } = must(members[0], "a group has members");
  const frees = what === "archived" || what === "compressed" || what === "withheld" || what === "purged";
  const tokens = frees ? members.reduce((sum, { block }) => sum + freedBy(moment, view, block), 0) : 0;
  const blocks = members.map(({ block }) => block as number).sort((a, b) => a - b);
  return { actor, what, blocks, tokens, reason, ...(by === null ? {} : { by }) };
}

/** The original less what is wanted of it. */
function freedBy(moment: Moment, view: View, id: BlockId): number {
  const place = placeOf(moment, view, id);
  if (place === null) return 0;
  const shown = shownOf(moment, view, id);
  const before = tokensShown(moment, id, shown === "absent" || shown === "placeholder" ? "original" : shown);
  return Math.max(0, before.count - tokensShown(moment, id, wantedOf(place)).count);
}

export type ChangesShown = {
  readonly nonce: string;
  /** Changes at most; the user's stay longest. */
  readonly max: number;
  readonly reasonChars?: number;
};

/** `you archived #3..#9 (-6.2k, "setup done"); user pinned #31; #29 superseded by #41` */
export function changesText(changes: readonly Change[], shown: ChangesShown): string {
  const kept = mostTelling(changes, shown.max);
  const left = changes.length - kept.length;
  if (kept.length === 0) return left === 0 ? "" : `${left} ${left === 1 ? "change" : "changes"}`;
  const texts = kept.map((change) => changeText(change, shown));
  return [...texts, ...(left > 0 ? [`+${left} more`] : [])].join("; ");
}

const names: Readonly<Record<Actor, string>> = {
  user: "user",
  client: "client",
  model: "you",
  sidecar: "aperture",
  policy: "aperture",
};
/** A model knows best what it did itself. */
const tellingOrder: readonly string[] = ["user", "client", "aperture", "you"];

function mostTelling(changes: readonly Change[], max: number): readonly Change[] {
  if (changes.length <= max) return changes;
  const rank = (change: Change): number =>
    isDecision(change) ? -1 : tellingOrder.indexOf(names[change.actor]);
  const chosen = new Set([...changes].sort((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, max)));
  return changes.filter((change) => chosen.has(change));
}

/** What the model has waited for: it is told once, so it must not be what is left out. */
export function isDecision({ what }: Change): boolean {
  return what === "approved" || what === "denied" || what === "expired";
}

function changeText(change: Change, { nonce, reasonChars = 60 }: ChangesShown): string {
  const ids = idsText(change.blocks, 3);
  if (change.what === "superseded") return `${ids} superseded by #${change.by ?? 0}`;
  const wish = change.blocks.length === 0 ? `your ${change.verb}` : `your ${change.verb} of ${ids}`;
  if (change.what === "waiting") return `${wish} waits for the user`;
  if (change.what === "expired") return `${wish} expired: nobody decided`;
  const reason = shortened(safeText(change.reason, nonce), reasonChars);
  const notes = [
    ...(change.tokens > 0 ? [`-${sizeText(change.tokens)}`] : []),
    ...(reason === "" ? [] : [`"${reason}"`]),
  ];
  const behind = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
  const what = isDecision(change) ? wish : ids;
  return `${names[change.actor]} ${change.what} ${what}${behind}`;
}
