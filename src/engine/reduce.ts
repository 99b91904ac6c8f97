import { assert, fail, limits, ok, type Result, unreachable } from "../base/index.ts";
import type { Delta } from "./delta.ts";
import { checkSeal, type Frame } from "./frame.ts";
import { askApproval, decideApproval, setMode, setName, setPermission } from "./reduce-approval.ts";
import {
  addBlock,
  countTokens,
  purgeBlock,
  removeBlock,
  setRendition,
  setScope,
  setTopics,
} from "./reduce-block.ts";
import { closeExchange, identifySession, openExchange } from "./reduce-exchange.ts";
import { setFact } from "./reduce-fact.ts";
import { answerTurn, sendTurn, sendUnit, startEpoch } from "./reduce-ledger.ts";
import { takeStep } from "./reduce-step.ts";
import { openStream, openView, reserveIds, startRun } from "./reduce-stream.ts";
import type { State } from "./state.ts";

/**
 * The one reducer, live and in replay. Pure: a frame that does not fit is refused by name and the state stays
 * as it was. Rules of behaviour (who may do what, what is protected) are not here, so that changing them
 * never makes an old log unreadable; they live in change.ts.
 */
export function reduce(state: State, frame: Frame): Result<State> {
  const refused = checkPlace(state, frame);
  if (refused !== null) return refused;
  let next: Result<State> = ok({ ...state, seq: frame.seq, hash: frame.hash });
  for (const delta of frame.deltas) {
    if (!next.ok) return next;
    next = applyDelta(next.value, delta);
  }
  if (next.ok) next = takeStep(next.value, frame);
  assert(!next.ok || next.value.seq === state.seq + 1, "a frame moves the state by one seq");
  return next;
}

/** Applies frames in order and stops at the first that does not fit. */
export function replay(state: State, frames: Iterable<Frame>): Result<State> {
  let current = state;
  for (const frame of frames) {
    const next = reduce(current, frame);
    if (!next.ok) return next;
    current = next.value;
  }
  return ok(current);
}

function checkPlace(state: State, frame: Frame): (Result<never> & { ok: false }) | null {
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
 * `state.seq` is the seq of the frame the delta belongs to. Also how undo tries its deltas before it proposes
 * them.
 */
export function applyDelta(state: State, delta: Delta): Result<State> {
  switch (delta.type) {
    case "stream-opened":
      return openStream(state, delta);
    case "view-opened":
      return openView(state, delta);
    case "ids-reserved":
      return reserveIds(state, delta);
    case "run-started":
      return startRun(state, delta);
    case "block-added":
      return addBlock(state, delta.block);
    case "block-removed":
      return removeBlock(state, delta.block);
    case "block-purged":
      return purgeBlock(state, delta.block);
    case "tokens-counted":
      return countTokens(state, delta);
    case "topics-set":
      return setTopics(state, delta);
    case "scope-set":
      return setScope(state, delta);
    case "rendition-set":
      return setRendition(state, delta);
    case "level-set":
    case "pin-set":
    case "ttl-set":
    case "focus-set":
    case "selection-set":
    case "archive-set":
    case "withhold-set":
    case "reference-set":
    case "supersession-set":
      return setFact(state, delta);
    case "unit-sent":
      return sendUnit(state, delta.unit);
    case "turn-sent":
      return sendTurn(state, delta);
    case "turn-answered":
      return answerTurn(state, delta);
    case "epoch-started":
      return startEpoch(state, delta);
    case "session-identified":
      return identifySession(state, delta.identity);
    case "exchange-opened":
      return openExchange(state, delta.exchange);
    case "exchange-closed":
      return closeExchange(state, delta.end);
    case "approval-asked":
      return askApproval(state, delta.approval);
    case "approval-decided":
      return decideApproval(state, delta);
    case "permission-set":
      return setPermission(state, delta);
    case "mode-set":
      return setMode(state, delta);
    case "name-set":
      return setName(state, delta);
    default:
      return unreachable(delta);
  }
}
