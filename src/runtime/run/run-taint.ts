import { type BlockId, type Json, must, ok, type Result } from "../../base/index.ts";
import { isCommandTool, isTainting } from "../../commands/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { asOf, type Moment } from "../../engine/moment/index.ts";
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
  const isTaintingBlock = (block: AddedBlock): boolean =>
    isTainting(foreignText({ moment, nonce, read: read.value }, block), nonce);
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

/**
 * The text of a block without our own notes. In the result of a command, lines with the nonce are ours;
 * content that the result repeats stands in lines without it.
 */
function foreignText(
  { moment, nonce, read }: { readonly moment: Moment; readonly nonce: string; readonly read: ContentReader },
  block: AddedBlock,
): string {
  const text = textsIn(JSON.parse(Buffer.from(read(block.content)).toString("utf8")) as Json).join("\n");
  const call = callOf(moment, block);
  const unit = call === null ? null : readPart(read(call.content), call);
  if (unit?.type !== "call" || !isCommandTool(unit.name)) return text;
  return text
    .split("\n")
    .filter((line) => !line.includes(nonce))
    .join("\n");
}

/** All strings of a JSON value, at any depth. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
