import { type BlockId, must, ok, type Result } from "../../base/index.ts";
import { isCommandTool } from "../../commands/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { asOf, type Moment } from "../../engine/moment/index.ts";
import { isTaintingUnit } from "../../ledger/index.ts";
import { readPart } from "../../protocols/index.ts";
import type { ContentReader } from "../content-cache.ts";
import { viewOfRun } from "../prompt/plan-prompt.ts";
import { ephemeralBlocks, peripheralBlocks } from "../prompt/surroundings.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { runStatusOf } from "../run-status.ts";

/**
 * True if an untrusted block that this run was the first to read looks like commands. It is found in the log,
 * so a run that continues after a crash finds the same.
 */
export async function isTaintedRun(deps: RunDeps, run: AgentRun): Promise<Result<boolean>> {
  const moment = deps.log.moment();
  const view = viewOfRun(moment, run);
  const untrusted = newlyShown(deps, run, { moment, view }).filter(({ taint }) => taint === "untrusted");
  const calls = untrusted.flatMap((block) => callOf(moment, block) ?? []);
  const read = await deps.log.contents.load([...untrusted, ...calls].map(({ content }) => content));
  if (!read.ok) return read;
  const nonce = deps.nonceOf(view);
  const isTaintingBlock = (block: AddedBlock): boolean => {
    const origin = isCommandResult(moment, read.value, block) ? "aperture" : "client";
    return isTaintingUnit({ origin, bytes: read.value(block.content) }, nonce);
  };
  return ok(untrusted.some(isTaintingBlock));
}

/** Blocks that the prompts of a run showed and earlier prompts did not. */
function newlyShown(
  { index }: RunDeps,
  { agent }: AgentRun,
  { moment, view }: { readonly moment: Moment; readonly view: View },
): readonly AddedBlock[] {
  const status = runStatusOf(moment, view, index);
  const since = sentBefore(view, status.startSeq);
  const each = agent.peripheralNotes === undefined ? 0 : Number.MAX_SAFE_INTEGER;
  const then = asOf(moment, must(view.sent.last, "a run that calls has sent").seq);
  return [
    ...shownSince(moment, view, since),
    ...ephemeralBlocks({ moment, view, status }),
    ...peripheralBlocks(then, view, { since, each }),
  ];
}

/** The seq of the last prompt of the previous run; 0 if there was none. */
function sentBefore({ sent }: View, startSeq: number): number {
  for (let at = sent.size - 1; at >= 0; at -= 1) {
    const { seq } = must(sent.get(at), "turns have no gaps");
    if (seq <= startSeq) return seq;
  }
  return 0;
}

function shownSince({ state }: Moment, view: View, since: number): readonly AddedBlock[] {
  const ids = new Set<BlockId>();
  for (let at = state.units.size - 1; at >= 0; at -= 1) {
    const { sentSeq, shows } = must(state.units.get(at), "units have no gaps");
    if (sentSeq <= since) break;
    for (const { block } of shows) if (firstSeq(view.shown.get(block)) > since) ids.add(block);
  }
  return [...ids].map((id) => must(state.blocks.get(id), "it was shown").block);
}

/** The seq at which a block was first shown; 0 if it was not. */
function firstSeq(versions: ReturnType<View["shown"]["get"]>): number {
  let first = 0;
  for (let at = versions ?? null; at !== null; at = at.previous) first = at.seq;
  return first;
}

function callOf({ state }: Moment, { pair, anchor }: AddedBlock): AddedBlock | null {
  const group = pair === null ? [] : (state.pairs.get(pair) ?? []);
  const blocks = group.map((id) => must(state.blocks.get(id), "pairs list known blocks").block);
  return blocks.find((block) => block.kind === "tool-call" && block.anchor === anchor) ?? null;
}

/** True for the result of a command: it consists of our notes and of content that it repeats. */
function isCommandResult(moment: Moment, read: ContentReader, block: AddedBlock): boolean {
  const call = callOf(moment, block);
  const part = call === null ? null : readPart(read(call.content), call);
  return part?.type === "call" && isCommandTool(part.name);
}
