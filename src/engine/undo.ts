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
import type { Block, BlockAttributes } from "./frames/block.ts";
import type { Delta } from "./frames/delta.ts";
import { type Actor, type FactName, factNames, initialFact, outranks } from "./frames/facts.ts";
import type { Frame } from "./frames/frame.ts";
import { type BlockView, blockViewOf, factVersion, now, permissionVersion, viewOf } from "./moment/moment.ts";
import { applyDelta } from "./reduce.ts";
import type { State, Step } from "./state.ts";
import type { Versions } from "./versions.ts";

/**
 * The deltas that undo a step, or redo it: both reverse the frames that gave the step its present status.
 * They are tried on the state first; a delta that does not fit is a conflict, which names the frame in the
 * way.
 */
export function reverse(state: State, step: Step, frames: readonly Frame[]): Result<readonly Delta[]> {
  const expected = step.log.value.frames;
  assert(
    frames.length === expected.length && frames.every((frame, index) => frame.seq === expected[index]),
    "a step is reversed with the frames it names",
  );
  const inverse: Delta[] = [];
  let scratch: State = { ...state, seq: seqOf(state.seq + 1) };
  const checkedSubjects = new Set<string>();
  for (const delta of frames.flatMap((frame) => frame.deltas).reverse()) {
    const reversed = inverseOf(delta);
    if (reversed === null) return fail("AP_UNDO_IRREVERSIBLE", { step: step.id, type: delta.type });
    // A step may set one thing several times: only its last value can have been overwritten by a later frame.
    const isLast = !checkedSubjects.has(subjectOf(reversed));
    checkedSubjects.add(subjectOf(reversed));
    const obstacle =
      (isLast ? laterSetter(state, reversed, expected) : null) ?? obstacleTo(scratch, reversed);
    if (obstacle !== null) return fail("AP_UNDO_CONFLICT", { step: step.id, ...obstacle });
    scratch = unwrap(applyDelta(scratch, reversed));
    inverse.push(reversed);
  }
  return ok(inverse);
}

/**
 * The delta that reverses another. Null for deltas that cannot be undone: things that were sent, reserved,
 * opened, counted, purged, asked or decided.
 */
export function inverseOf(delta: Delta): Delta | null {
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

/** A key for the thing a delta sets, independent of the value. */
function subjectOf(delta: Delta): string {
  const { from, to, ...subject } = { from: null, to: null, ...delta };
  return JSON.stringify(subject);
}

/**
 * The frame that set the value after the step did, if any. An equal value may come from another frame by now.
 */
function laterSetter(state: State, delta: Delta, frames: readonly Seq[]): Obstacle | null {
  if (!("from" in delta) || sameData(delta.from, delta.to)) return null;
  const present = presentSetter(state, delta);
  return frames.includes(present.seq) || isBackAgain(state, delta, present.seq) ? null : present;
}

/** True if a later step was undone and so restored the value this step had set. */
function isBackAgain(state: State, delta: Delta, seq: Seq): boolean {
  const isUndoing = [...state.steps.entries()].some(
    ([, { log }]) => !log.value.done && log.value.frames.includes(seq),
  );
  if (isRuleSet(delta)) return isUndoing && sameData(ruleVersion(state, delta)?.value ?? null, delta.from);
  if (!("view" in delta && "block" in delta && "from" in delta)) return false;
  const view = isUndoing ? viewOf(now(state), delta.view) : null;
  const blockView = view === null ? null : blockViewOf(now(state), view, delta.block);
  const fact = delta.type.slice(0, -"-set".length) as FactName;
  return blockView !== null && sameData(factVersion(blockView, fact)?.value, delta.from);
}

/** The actor that did or undid a step decides who may reverse it, as with any fact. */
export function mayReverse(step: Step, actor: Actor): boolean {
  return outranks(actor, step.log.value.by);
}

type Obstacle = { readonly seq: Seq; readonly what: string };

/** The frame that prevents a delta. Null if the delta fits. */
function obstacleTo(state: State, delta: Delta): Obstacle | null {
  const obstacle = delta.type === "block-removed" ? laterFact(state, delta.block.id) : null;
  return obstacle ?? (applyDelta(state, delta).ok ? null : presentSetter(state, delta));
}

/**
 * A fact set on the block since it was added. Removing a block that was pinned since, for example, would
 * remove the pin too. A reference does not count, and neither does being superseded by policy.
 */
function laterFact(state: State, id: BlockId): Obstacle | null {
  const stream = state.blocks.get(id)?.block.stream;
  for (const [, view] of state.views.entries()) {
    // A fork keeps the block as it was at the fork, so removing it here takes nothing from the fork.
    const blockView = view.stream === stream ? blockViewOf(now(state), view, id) : null;
    const fact = blockView === null ? undefined : factNames.find((name) => isClaimed(blockView, name));
    if (blockView !== null && fact !== undefined) {
      return {
        seq: must(factVersion(blockView, fact), "a claimed fact was set").seq,
        what: `the ${fact} of #${id}`,
      };
    }
  }
  return null;
}

function isClaimed(blockView: BlockView, fact: FactName): boolean {
  const version = factVersion(blockView, fact);
  if (version === null || fact === "reference") return false;
  // No actor asked for this mark: policy set it because a newer block replaces this one.
  if (fact === "supersession" && version.value.by === "policy") return false;
  return !sameData(version.value.value, initialFact(blockView.block, fact).value);
}

type RuleSetDelta = Extract<Delta, { readonly type: "permission-set" | "mode-set" | "name-set" }>;

function isRuleSet(delta: Delta): delta is RuleSetDelta {
  return delta.type === "permission-set" || delta.type === "mode-set" || delta.type === "name-set";
}

function ruleVersion(state: State, delta: RuleSetDelta): Versions<unknown> | null {
  if (delta.type === "mode-set") return state.mode;
  if (delta.type === "name-set") return state.name;
  const view = must(viewOf(now(state), delta.view), "a permission was set in a known view");
  return permissionVersion(now(state), view, delta);
}

function ruleName(delta: RuleSetDelta): string {
  if (delta.type === "permission-set") return `the permission of ${delta.actor} to ${delta.verb}`;
  return delta.type === "mode-set" ? "the mode" : "the name";
}

/**
 * The frame that set the present value: of a block's fact or attribute, a permission, the mode or the name.
 */
function presentSetter(state: State, delta: Delta): Obstacle {
  if (isRuleSet(delta)) {
    return { seq: ruleVersion(state, delta)?.seq ?? state.seq, what: ruleName(delta) };
  }
  const id = "block" in delta ? blockIdIn(delta.block) : null;
  assert(id !== null, "only changes of blocks are reversed");
  const view = "view" in delta ? viewOf(now(state), delta.view) : null;
  const blockView = view === null ? null : blockViewOf(now(state), view, id);
  const name = delta.type.slice(0, -"-set".length);
  if (blockView !== null) {
    const seq = factVersion(blockView, name as FactName)?.seq ?? state.seq;
    return { seq, what: `the ${name} of #${id}` };
  }
  const seq = attributeSeq(
    must(state.blocks.get(id), "what was changed is known").attributes,
    attributeIn(delta),
  );
  return { seq, what: isAttributeSet(delta) ? `the ${name} of #${id}` : `#${id}` };
}

type AttributeDelta = Extract<Delta, { readonly type: "topics-set" | "scope-set" | "rendition-set" }>;

function isAttributeSet(delta: Delta): delta is AttributeDelta {
  return delta.type === "topics-set" || delta.type === "scope-set" || delta.type === "rendition-set";
}

/** Reads the attribute a delta sets; for any other delta, whether the block is present. */
function attributeIn(delta: Delta): (attributes: BlockAttributes) => unknown {
  if (!isAttributeSet(delta)) return (attributes) => attributes.present;
  if (delta.type === "rendition-set") return (attributes) => attributes.renditions[delta.level];
  return (attributes) => (delta.type === "topics-set" ? attributes.topics : attributes.scope);
}

/** The frame after which this attribute did not change any more. All attributes share one log. */
function attributeSeq(
  newest: Versions<BlockAttributes>,
  read: (attributes: BlockAttributes) => unknown,
): Seq {
  let version = newest;
  while (version.previous !== null && sameData(read(version.value), read(version.previous.value))) {
    version = version.previous;
  }
  return version.seq;
}

function blockIdIn(block: Block | BlockId): BlockId {
  return typeof block === "number" ? block : block.id;
}
