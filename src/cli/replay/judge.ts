import { GENESIS_HASH, hashContent, sessionId } from "../../base/index.ts";
import { checkSeal, type Frame } from "../../engine/frames/index.ts";
import { emptyState, reduce, type State } from "../../engine/index.ts";
import type { BodyEvidence, Evidence } from "./evidence.ts";
import { checkLedger, type LedgerMatches } from "./ledger-check.ts";

export type ReplayVerdict = {
  readonly session: string;
  /** The last replayed seq. */
  readonly seq: number;
  readonly frames: number;
  /** The number of frames that the reducer of live sessions could apply again. */
  readonly folded: number;
  readonly blocks: number;
  readonly requests: number;
  readonly bodies: { readonly identical: number; readonly all: number; readonly unseen: number };
  /** Requests that were relayed unchanged: both sides hold the same bytes. */
  readonly raw: { readonly identical: number; readonly all: number };
  /** Managed requests whose body equals what the ledger says was sent. */
  readonly managed: LedgerMatches;
  readonly problems: readonly string[];
};

/** Checks everything again: seals, frames and hashes. */
export function judgeReplay(evidence: Evidence, to: number | null): ReplayVerdict {
  const frames = to === null ? evidence.frames : evidence.frames.filter(({ seq }) => seq <= to);
  const problems: string[] = [];
  checkChain(frames, evidence.maskedFrames, problems);
  const { folded, state } = replayFrames(evidence, frames, problems);
  const bodies = checkBodies(evidence.bodies, problems);
  for (const { request, isSame } of evidence.raw) {
    if (!isSame) problems.push(`request ${request}: recorded as relayed unchanged, but its bodies differ`);
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
    managed: checkLedger(state, evidence.bodies, problems),
    problems,
  };
}

function blocksIn(frames: readonly Frame[]): number {
  return frames.flatMap(({ deltas }) => deltas).filter(({ type }) => type === "block-added").length;
}

/** A masked frame has other texts, but its place in the chain can still be checked. */
function checkChain(frames: readonly Frame[], masked: ReadonlySet<number>, problems: string[]): void {
  let before = GENESIS_HASH;
  for (const frame of frames) {
    const isWhole = masked.has(frame.seq) ? frame.prevHash === before : checkSeal(frame, before).ok;
    if (!isWhole) problems.push(`frame ${frame.seq}: its seal is broken`);
    before = frame.hash;
  }
}

type ReplayedFrames = { readonly folded: number; readonly state: State };

/** A masked frame cannot be applied, so the replay ends there. */
function replayFrames(
  { session, maskedFrames }: Evidence,
  frames: readonly Frame[],
  problems: string[],
): ReplayedFrames {
  let state: State = emptyState(sessionId(session));
  let folded = 0;
  for (const frame of frames) {
    if (maskedFrames.has(frame.seq)) break;
    const next = reduce(state, frame);
    if (!next.ok) {
      problems.push(`frame ${frame.seq}: it cannot be replayed: ${next.error.message}`);
      break;
    }
    state = next.value;
    folded += 1;
  }
  return { folded, state };
}

function checkBodies(bodies: readonly BodyEvidence[], problems: string[]): ReplayVerdict["bodies"] {
  let [identical, unseen] = [0, 0];
  for (const { request, side, hash, bytes } of bodies) {
    if (bytes === null) problems.push(`request ${request}, ${side}: its bytes cannot be read`);
    else if (typeof bytes === "string") unseen += 1;
    else if (hashContent(bytes) === hash) identical += 1;
    else problems.push(`request ${request}, ${side}: its bytes differ from the stored hash`);
  }
  return { identical, all: bodies.length, unseen };
}
