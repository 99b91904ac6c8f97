import {
  assert,
  type BlockId,
  fail,
  must,
  ok,
  type Result,
  type Seq,
  sameData,
  seqOf,
  unreachable,
  unwrap,
} from "../base/index.ts";
import type { Block, BlockNotes } from "./block.ts";
import type { Delta } from "./delta.ts";
import { type Actor, type FactName, factNames, initialFact, outranks } from "./facts.ts";
import type { Frame } from "./frame.ts";
import { factVersion, now, type Place, permissionVersion, placeOf, viewOf } from "./moment.ts";
import { applyDelta } from "./reduce.ts";
import type { State, Step } from "./state.ts";
import type { Versions } from "./versions.ts";

/**
 * The deltas that take back a step, or take it up again: both reverse the frames that brought it where it
 * stands. They are tried on the state first; one that does not fit is a conflict, which names the frame in
 * the way.
 */
export function reverse(state: State, step: Step, frames: readonly Frame[]): Result<readonly Delta[]> {
  const expected = step.log.value.frames;
  assert(
    frames.length === expected.length && frames.every((frame, index) => frame.seq === expected[index]),
    "a step is reversed with the frames it names",
  );
  const inverse: Delta[] = [];
  let scratch: State = { ...state, seq: seqOf(state.seq + 1) };
  const looked = new Set<string>();
  for (const delta of frames.flatMap((frame) => frame.deltas).reverse()) {
    const undone = inverted(delta);
    if (undone === null) return fail("AP_UNDO_IRREVERSIBLE", { step: step.id, type: delta.type });
    // What a step has set several times is somebody else's only if its last word is.
    const isLast = !looked.has(subjectOf(undone));
    looked.add(subjectOf(undone));
    const obstacle = (isLast ? takenOver(state, undone, expected) : null) ?? obstacleTo(scratch, undone);
    if (obstacle !== null) return fail("AP_UNDO_CONFLICT", { step: step.id, ...obstacle });
    scratch = unwrap(applyDelta(scratch, undone));
    inverse.push(undone);
  }
  return ok(inverse);
}

/**
 * The delta that leads back. Null for what cannot be taken back: what was sent, reserved, opened, counted,
 * purged, asked or decided.
 */
export function inverted(delta: Delta): Delta | null {
  switch (delta.type) {
    case "block-added":
      return { type: "block-removed", block: delta.block };
    case "block-removed":
      return { type: "block-added", block: delta.block };
    case "topics-set":
    case "scope-set":
    case "rendition-set":
    case "level-set":
    case "pin-set":
    case "ttl-set":
    case "focus-set":
    case "selection-set":
    case "archive-set":
    case "withhold-set":
    case "reference-set":
    case "supersession-set":
    case "permission-set":
    case "mode-set":
    case "name-set":
      return { ...delta, from: delta.to, to: delta.from } as Delta;
    case "stream-opened":
    case "view-opened":
    case "ids-reserved":
    case "run-started":
    case "block-purged":
    case "tokens-counted":
    case "unit-sent":
    case "turn-sent":
    case "turn-answered":
    case "epoch-started":
    case "session-identified":
    case "exchange-opened":
    case "exchange-closed":
    case "approval-asked":
    case "approval-decided":
      return null;
    default:
      return unreachable(delta);
  }
}

/** What a delta sets, whatever it sets it to. */
function subjectOf(delta: Delta): string {
  const { from, to, ...subject } = { from: null, to: null, ...delta };
  return JSON.stringify(subject);
}

/** The step must be the last to have set what it takes back: an equal value may be somebody else's by now. */
function takenOver(state: State, delta: Delta, frames: readonly Seq[]): Obstacle | null {
  if (!("from" in delta) || sameData(delta.from, delta.to)) return null;
  const present = presentValue(state, delta);
  return frames.includes(present.seq) || isBackAgain(state, delta, present.seq) ? null : present;
}

/** Whether a later step that was taken back itself has left things as this one had made them. */
function isBackAgain(state: State, delta: Delta, seq: Seq): boolean {
  const isUndoing = [...state.steps.entries()].some(
    ([, { log }]) => !log.value.done && log.value.frames.includes(seq),
  );
  if (isRule(delta)) return isUndoing && sameData(ruleVersion(state, delta)?.value ?? null, delta.from);
  if (!("view" in delta && "block" in delta && "from" in delta)) return false;
  const view = isUndoing ? viewOf(now(state), delta.view) : null;
  const place = view === null ? null : placeOf(now(state), view, delta.block);
  const fact = delta.type.slice(0, -"-set".length) as FactName;
  return place !== null && sameData(factVersion(place, fact)?.value, delta.from);
}

/** Who brought a step to where it stands decides who may reverse it, as with any fact. */
export function mayReverse(step: Step, actor: Actor): boolean {
  return outranks(actor, step.log.value.by);
}

type Obstacle = { readonly seq: Seq; readonly what: string };

/** The frame that stands in the way of a delta, or null if it fits. */
function obstacleTo(state: State, delta: Delta): Obstacle | null {
  const obstacle = delta.type === "block-removed" ? laterFact(state, delta.block.id) : null;
  return obstacle ?? (applyDelta(state, delta).ok ? null : presentValue(state, delta));
}

/**
 * Taking away a block that somebody has since pinned, say, would take their pin too. Being mentioned is no
 * claim, and neither is being said again.
 */
function laterFact(state: State, id: BlockId): Obstacle | null {
  const stream = state.blocks.get(id)?.block.stream;
  for (const [, view] of state.views.entries()) {
    // A fork sees the block as it was when it left, whatever happens here: nothing is taken from it.
    const place = view.stream === stream ? placeOf(now(state), view, id) : null;
    const fact = place === null ? undefined : factNames.find((name) => isClaimed(place, name));
    if (place !== null && fact !== undefined) {
      return {
        seq: must(factVersion(place, fact), "a claimed fact was set").seq,
        what: `the ${fact} of #${id}`,
      };
    }
  }
  return null;
}

function isClaimed(place: Place, fact: FactName): boolean {
  const version = factVersion(place, fact);
  if (version === null || fact === "reference") return false;
  // Nobody has asked for this mark: policy sees that other words stand for the block by now.
  if (fact === "supersession" && version.value.by === "policy") return false;
  return !sameData(version.value.value, initialFact(place.block, fact).value);
}

type RuleSet = Extract<Delta, { readonly type: "permission-set" | "mode-set" | "name-set" }>;

function isRule(delta: Delta): delta is RuleSet {
  return delta.type === "permission-set" || delta.type === "mode-set" || delta.type === "name-set";
}

function ruleVersion(state: State, delta: RuleSet): Versions<unknown> | null {
  if (delta.type === "mode-set") return state.mode;
  if (delta.type === "name-set") return state.name;
  const view = must(viewOf(now(state), delta.view), "what was set in a view has one");
  return permissionVersion(now(state), view, delta);
}

function ruleWords(delta: RuleSet): string {
  if (delta.type === "permission-set") return `the permission of ${delta.actor} to ${delta.verb}`;
  return delta.type === "mode-set" ? "the mode" : "the name";
}

/** Who gave a block's fact or note, a permission, the mode or the name the value it has now. */
function presentValue(state: State, delta: Delta): Obstacle {
  if (isRule(delta)) {
    return { seq: ruleVersion(state, delta)?.seq ?? state.seq, what: ruleWords(delta) };
  }
  const id = "block" in delta ? blockNumber(delta.block) : null;
  assert(id !== null, "only changes of blocks are reversed");
  const view = "view" in delta ? viewOf(now(state), delta.view) : null;
  const place = view === null ? null : placeOf(now(state), view, id);
  const name = delta.type.slice(0, -"-set".length);
  if (place !== null) {
    const seq = factVersion(place, name as FactName)?.seq ?? state.seq;
    return { seq, what: `the ${name} of #${id}` };
  }
  const seq = noteSeq(must(state.blocks.get(id), "what was changed is known").notes, noteIn(delta));
  return { seq, what: isNote(delta) ? `the ${name} of #${id}` : `#${id}` };
}

type NoteDelta = Extract<Delta, { readonly type: "topics-set" | "scope-set" | "rendition-set" }>;

function isNote(delta: Delta): delta is NoteDelta {
  return delta.type === "topics-set" || delta.type === "scope-set" || delta.type === "rendition-set";
}

/** The note a delta is about; for all others, whether the block is there. */
function noteIn(delta: Delta): (notes: BlockNotes) => unknown {
  if (!isNote(delta)) return (notes) => notes.present;
  if (delta.type === "rendition-set") return (notes) => notes.renditions[delta.level];
  return (notes) => (delta.type === "topics-set" ? notes.topics : notes.scope);
}

/** All notes share one log: the frame is the one after which this note did not change any more. */
function noteSeq(newest: Versions<BlockNotes>, note: (notes: BlockNotes) => unknown): Seq {
  let version = newest;
  while (version.previous !== null && sameData(note(version.value), note(version.previous.value))) {
    version = version.previous;
  }
  return version.seq;
}

function blockNumber(block: Block | BlockId): BlockId {
  return typeof block === "number" ? block : block.id;
}
