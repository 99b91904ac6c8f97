import { assert, fail, limits, ok, type Result, unreachable } from "../base/index.ts";
import type { Delta } from "./frames/delta.ts";
import { checkSeal, type Frame } from "./frames/frame.ts";
import {
  applyApprovalDecided,
  applyApprovalRequest,
  applyModeSet,
  applyNameSet,
  applyPermissionSet,
} from "./reduce-approval.ts";
import {
  applyBlockAdded,
  applyBlockPurged,
  applyBlockRemoved,
  applyRenditionSet,
  applyScopeSet,
  applyTokensCounted,
  applyTopicsSet,
} from "./reduce-block.ts";
import { applyExchangeClosed, applyExchangeOpened, applySessionIdentified } from "./reduce-exchange.ts";
import { applyFactSet } from "./reduce-fact.ts";
import { applyEpochStarted, applyTurnAnswered, applyTurnSent, applyUnitSent } from "./reduce-ledger.ts";
import { applyStep } from "./reduce-step.ts";
import { applyIdsReserved, applyRunStarted, applyStreamOpened, applyViewOpened } from "./reduce-stream.ts";
import type { State } from "./state.ts";

/**
 * The one reducer, live and in replay. Pure: a frame that does not fit is refused with an error code and the
 * state stays as it was. Rules of behaviour (who may do what, what is protected) are not here, so that
 * changing them never makes an old log unreadable; they live in change-facts.ts.
 */
export function reduce(state: State, frame: Frame): Result<State> {
  const refused = checkFrame(state, frame);
  if (refused !== null) return refused;
  let next: Result<State> = ok({ ...state, seq: frame.seq, hash: frame.hash });
  for (const delta of frame.deltas) {
    if (!next.ok) return next;
    next = applyDelta(next.value, delta);
  }
  if (next.ok) next = applyStep(next.value, frame);
  assert(!next.ok || next.value.seq === state.seq + 1, "a frame moves the state by one seq");
  return next;
}

/** Applies frames in order and stops at the first one that does not fit. */
export function replayFrames(state: State, frames: Iterable<Frame>): Result<State> {
  let current = state;
  for (const frame of frames) {
    const next = reduce(current, frame);
    if (!next.ok) return next;
    current = next.value;
  }
  return ok(current);
}

function checkFrame(state: State, frame: Frame): (Result<never> & { ok: false }) | null {
  const { seq } = frame;
  if (frame.session !== state.session) return fail("AP_FRAME_SESSION", { seq });
  if (seq !== state.seq + 1) return fail("AP_FRAME_ORDER", { seq, head: state.seq });
  if (seq > limits.framesMax) return fail("AP_FRAME_LIMIT", { seq, limit: "framesMax", actual: seq });
  const count = frame.deltas.length;
  if (count > limits.deltasPerFrameMax) {
    return fail("AP_FRAME_LIMIT", { seq, limit: "deltasPerFrameMax", actual: count });
  }
  const sealed = checkSeal(frame, state.hash);
  return sealed.ok ? null : sealed;
}

/**
 * Contract: `state.seq` is the seq of the frame the delta belongs to. Undo also tries its deltas with this
 * before it proposes them.
 */
export function applyDelta(state: State, delta: Delta): Result<State> {
  switch (delta.type) {
    case "stream-opened":
      return applyStreamOpened(state, delta);
    case "view-opened":
      return applyViewOpened(state, delta);
    case "ids-reserved":
      return applyIdsReserved(state, delta);
    case "run-started":
      return applyRunStarted(state, delta);
    case "block-added":
      return applyBlockAdded(state, delta.block);
    case "block-removed":
      return applyBlockRemoved(state, delta.block);
    case "block-purged":
      return applyBlockPurged(state, delta.block);
    case "tokens-counted":
      return applyTokensCounted(state, delta);
    case "topics-set":
      return applyTopicsSet(state, delta);
    case "scope-set":
      return applyScopeSet(state, delta);
    case "rendition-set":
      return applyRenditionSet(state, delta);
    case "level-set":
    case "pin-set":
    case "ttl-set":
    case "focus-set":
    case "selection-set":
    case "archive-set":
    case "withhold-set":
    case "reference-set":
    case "supersession-set":
      return applyFactSet(state, delta);
    case "unit-sent":
      return applyUnitSent(state, delta.unit);
    case "turn-sent":
      return applyTurnSent(state, delta);
    case "turn-answered":
      return applyTurnAnswered(state, delta);
    case "epoch-started":
      return applyEpochStarted(state, delta);
    case "session-identified":
      return applySessionIdentified(state, delta.identity);
    case "exchange-opened":
      return applyExchangeOpened(state, delta.exchange);
    case "exchange-closed":
      return applyExchangeClosed(state, delta.end);
    case "approval-asked":
      return applyApprovalRequest(state, delta.approval);
    case "approval-decided":
      return applyApprovalDecided(state, delta);
    case "permission-set":
      return applyPermissionSet(state, delta);
    case "mode-set":
      return applyModeSet(state, delta);
    case "name-set":
      return applyNameSet(state, delta);
    default:
      return unreachable(delta);
  }
}
