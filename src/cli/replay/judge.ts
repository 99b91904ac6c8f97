import { GENESIS_HASH, hashContent, sessionId } from "../../base/index.ts";
import { checkSeal, emptyState, type Frame, reduce, type State } from "../../engine/index.ts";
import type { BodyEvidence, Evidence } from "./evidence.ts";
import { checkSpelling, type Spelled } from "./spelled.ts";

export type Verdict = {
  readonly session: string;
  /** Up to here, if only a part was replayed. */
  readonly seq: number;
  readonly frames: number;
  /** Frames that were carried out again, one by one, by the reducer that serves live sessions. */
  readonly folded: number;
  readonly blocks: number;
  readonly requests: number;
  readonly bodies: { readonly identical: number; readonly all: number; readonly unseen: number };
  /** Requests that went up as they came: both sides hold the same bytes. */
  readonly raw: { readonly identical: number; readonly all: number };
  /** Managed requests that the ledger spells as they went up. */
  readonly managed: Spelled;
  readonly problems: readonly string[];
};

/** Nothing is believed: seals are computed, frames carried out, hashes taken anew. */
export function judge(evidence: Evidence, to: number | null): Verdict {
  const frames = to === null ? evidence.frames : evidence.frames.filter(({ seq }) => seq <= to);
  const problems: string[] = [];
  checkChain(frames, evidence.maskedFrames, problems);
  const { folded, state } = fold(evidence, frames, problems);
  const bodies = checkBodies(evidence.bodies, problems);
  for (const { request, isSame } of evidence.raw) {
    if (!isSame) problems.push(`request ${request}: it is said to have gone up as it came, but it did not`);
  }
  return {
    session: evidence.session,
    seq: frames.at(-1)?.seq ?? 0,
    frames: frames.length,
    folded,
    blocks: blocksIn(frames.slice(0, folded)),
    requests: evidence.requests,
    bodies,
    raw: { identical: evidence.raw.filter(({ isSame }) => isSame).length, all: evidence.raw.length },
    managed: checkSpelling(state, evidence.bodies, problems),
    problems,
  };
}

function blocksIn(frames: readonly Frame[]): number {
  return frames.flatMap(({ deltas }) => deltas).filter(({ type }) => type === "block-added").length;
}

/** In a masked frame the words are others, but its place in the chain is still its own. */
function checkChain(frames: readonly Frame[], masked: ReadonlySet<number>, problems: string[]): void {
  let before = GENESIS_HASH;
  for (const frame of frames) {
    const isWhole = masked.has(frame.seq) ? frame.prevHash === before : checkSeal(frame, before).ok;
    if (!isWhole) problems.push(`frame ${frame.seq}: its seal does not hold`);
    before = frame.hash;
  }
}

type Folded = { readonly folded: number; readonly state: State };

/** A masked frame is not the one that was sealed; from there on nothing can be carried out. */
function fold({ session, maskedFrames }: Evidence, frames: readonly Frame[], problems: string[]): Folded {
  let state: State = emptyState(sessionId(session));
  let folded = 0;
  for (const frame of frames) {
    if (maskedFrames.has(frame.seq)) break;
    const next = reduce(state, frame);
    if (!next.ok) {
      problems.push(`frame ${frame.seq}: it cannot be carried out again: ${next.error.message}`);
      break;
    }
    state = next.value;
    folded += 1;
  }
  return { folded, state };
}

function checkBodies(bodies: readonly BodyEvidence[], problems: string[]): Verdict["bodies"] {
  let [identical, unseen] = [0, 0];
  for (const { request, side, hash, bytes } of bodies) {
    if (bytes === null) problems.push(`request ${request}, ${side}: its bytes cannot be read`);
    else if (typeof bytes === "string") unseen += 1;
    else if (hashContent(bytes) === hash) identical += 1;
    else problems.push(`request ${request}, ${side}: its bytes are not those that were stored`);
  }
  return { identical, all: bodies.length, unseen };
}
