import { type BlockId, must, sameData, type ViewId } from "../base/index.ts";
import {
  type Actor,
  type Delta,
  type FactDelta,
  type FactValues,
  type Frame,
  type Level,
  levels,
} from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import {
  type ApprovalState,
  approvalOf,
  blockViewOf,
  type Moment,
  shownOf,
  viewOf,
  wantedOf,
} from "../engine/moment/index.ts";
import type { Change, ChangeWord } from "./change.ts";
import { tokensShown } from "./counted-block.ts";

/** A change of one block, before neighbours are grouped. */
type BlockChange = {
  readonly actor: Actor;
  readonly what: ChangeWord;
  readonly block: BlockId;
  readonly reason: string;
  readonly by: number | null;
  /** The step, or the frame if there is no step. */
  readonly group: string;
};

/** A fact about a block: its value before the first frame, and the delta that set it last. */
type ValueSpan = { readonly first: unknown; readonly last: Delta; readonly frame: Frame };

/** The changes that frames made in a view, in order. A change that was undone is none. */
export function changesIn(frames: readonly Frame[], moment: Moment, view: ViewId): readonly Change[] {
  const seen = must(viewOf(moment, view), "changes are asked of a view that is open");
  const spans = new Map<string, ValueSpan>();
  for (const frame of frames) {
    for (const delta of frame.deltas) addSpan(spans, { frame, delta, view: seen });
  }
  const singles = [...spans.values()]
    .flatMap((span) => blockChange(span) ?? [])
    .filter(({ block }) => blockViewOf(moment, seen, block) !== null);
  const archived = new Set(singles.filter(({ what }) => what === "archived").map(({ block }) => block));
  // An archived block is not also listed as compressed.
  const telling = singles.filter(({ what, block }) => what !== "compressed" || !archived.has(block));
  return [...groupChanges(telling, moment, seen), ...approvalChanges(frames, moment, view)];
}

/** The part of the frames that `changesIn` reads: small enough to keep for a long session. */
export function relevantFrames(frames: readonly Frame[], view: View): readonly Frame[] {
  const isTelling = (delta: Delta): boolean =>
    delta.type === "approval-asked" || delta.type === "approval-decided" || keyOf(delta, view) !== null;
  return frames
    .map((frame) => ({ ...frame, deltas: frame.deltas.filter(isTelling) }))
    .filter(({ deltas }) => deltas.length > 0);
}

type SpanInput = { readonly frame: Frame; readonly delta: Delta; readonly view: View };

function addSpan(spans: Map<string, ValueSpan>, { frame, delta, view }: SpanInput): void {
  const key = keyOf(delta, view);
  if (key === null) return;
  const known = spans.get(key);
  const first = known === undefined ? valueBefore(delta) : known.first;
  // Re-inserted at the end: a change is listed where it last happened.
  spans.delete(key);
  spans.set(key, { first, last: delta, frame });
}

/** The fact a delta changes, as a key; null if no reader is told about it. */
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

function blockChange({ first, last, frame }: ValueSpan): BlockChange | null {
  if (sameData(first, valueAfter(last))) return null;
  const named = nameChange(first, last);
  if (named === null || !("block" in last)) return null;
  const block = typeof last.block === "number" ? last.block : last.block.id;
  const { step, reason } = frame.cause;
  const told = named.reason ?? (named.what === "compressed" ? reason : "");
  const group = step === null ? `frame ${frame.seq}` : `step ${step}`;
  return { actor: frame.actor, what: named.what, block, reason: told, by: named.by ?? null, group };
}

type ChangeName = { readonly what: ChangeWord; readonly reason?: string; readonly by?: number };

function nameChange(first: unknown, delta: Delta): ChangeName | null {
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

function supersession(by: FactValues["supersession"]): ChangeName | null {
  return by === null ? null : { what: "superseded", by };
}

function groupChanges(singles: readonly BlockChange[], moment: Moment, view: View): readonly Change[] {
  const groups = new Map<string, BlockChange[]>();
  for (const single of singles) {
    const { actor, what, reason, by, group } = single;
    const key = JSON.stringify([group, actor, what, reason, by]);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [single]);
    else members.push(single);
  }
  return [...groups.values()].map((members) => changeOf(members, moment, view));
}

function changeOf(members: readonly BlockChange[], moment: Moment, view: View): Change {
  const { actor, what, reason, by } = must(members[0], "a group has members");
  const frees = what === "archived" || what === "compressed" || what === "withheld" || what === "purged";
  const tokens = frees ? members.reduce((sum, { block }) => sum + freedBy(moment, view, block), 0) : 0;
  const blocks = members.map(({ block }) => block as number).sort((a, b) => a - b);
  return { actor, what, blocks, tokens, reason, ...(by === null ? {} : { by }) };
}

/** Tokens of the block as shown, less its tokens at the wanted level. */
function freedBy(moment: Moment, view: View, id: BlockId): number {
  const place = blockViewOf(moment, view, id);
  if (place === null) return 0;
  const shown = shownOf(moment, view, id);
  const before = tokensShown(moment, id, shown === "absent" || shown === "placeholder" ? "original" : shown);
  return Math.max(0, before.count - tokensShown(moment, id, wantedOf(place)).count);
}

/** The changes of commands that wait for the user, each once and with its present status. */
function approvalChanges(frames: readonly Frame[], moment: Moment, view: ViewId): readonly Change[] {
  const ids = frames.flatMap(({ deltas }) =>
    deltas.flatMap((delta) => {
      if (delta.type === "approval-asked") return [delta.approval.id];
      return delta.type === "approval-decided" ? [delta.approval] : [];
    }),
  );
  const known = [...new Set(ids)].flatMap((id) => approvalOf(moment, id) ?? []);
  return known.filter((approval) => approval.view === view).map(approvalChange);
}

function approvalChange({ stand, verb, blocks, reason, by }: ApprovalState): Change {
  const isAnswer = stand === "approved" || stand === "denied";
  const ids = blocks.map(Number).sort((a, b) => a - b);
  return { actor: by, what: stand, blocks: ids, tokens: 0, reason: isAnswer ? reason : "", verb };
}
