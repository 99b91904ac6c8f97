import { type BlockId, type Json, must, ok, type Result } from "../base/index.ts";
import { isCommandTool, isTainting } from "../commands/index.ts";
import { type AddedBlock, asOf, type Moment, type View } from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import { askedOf } from "./asked.ts";
import type { ReadContent } from "./contents.ts";
import { viewIn } from "./rendering.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { passingBlocks, peripheralBlocks } from "./tail.ts";

/**
 * Whether something that a run was the first to read, and that nobody vouches for, speaks in commands. It is
 * found in the log: what a run has read is known to whoever takes it up again.
 */
export async function isTaintedRun(place: RunPlace, run: Run): Promise<Result<boolean>> {
  const moment = place.log.moment();
  const view = viewIn(moment, run);
  const untrusted = newIn(place, run, { moment, view }).filter(({ taint }) => taint === "untrusted");
  const calls = untrusted.flatMap((block) => callOf(moment, block) ?? []);
  const read = await place.log.contents.reader([...untrusted, ...calls].map(({ content }) => content));
  if (!read.ok) return read;
  const nonce = place.nonceOf(view);
  const speaks = (block: AddedBlock): boolean =>
    isTainting(wordsOf({ moment, nonce, read: read.value }, block), nonce);
  return ok(untrusted.some(speaks));
}

type Looked = { readonly moment: Moment; readonly view: View };

/** What the prompts of a run have shown, and those before it had not. */
function newIn({ standing }: RunPlace, { agent }: Run, { moment, view }: Looked): readonly AddedBlock[] {
  const asked = askedOf(moment, view, standing);
  const since = sentBefore(view, asked.beganSeq);
  const each = agent.peripheralNotes === undefined ? 0 : Number.MAX_SAFE_INTEGER;
  const then = asOf(moment, must(view.sent.last, "a run that calls has sent").seq);
  return [
    ...shownSince(moment, view, since),
    ...passingBlocks({ moment, view, asked }),
    ...peripheralBlocks(then, view, { since, each }),
  ];
}

/** The last prompt of the run before. */
function sentBefore({ sent }: View, beganSeq: number): number {
  for (let at = sent.size - 1; at >= 0; at -= 1) {
    const { seq } = must(sent.get(at), "turns have no gaps");
    if (seq <= beganSeq) return seq;
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

/** Since when something is known; 0: it is not. */
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

type Wording = { readonly moment: Moment; readonly nonce: string; readonly read: ReadContent };

/** In a result that we have written, lines with the mark are ours: what it repeats stands without it. */
function wordsOf({ moment, nonce, read }: Wording, block: AddedBlock): string {
  const text = textsIn(JSON.parse(Buffer.from(read(block.content)).toString("utf8")) as Json).join("\n");
  const call = callOf(moment, block);
  const spoken = call === null ? null : spokenIn(read(call.content));
  if (spoken?.type !== "call" || !isCommandTool(spoken.name)) return text;
  return text
    .split("\n")
    .filter((line) => !line.includes(nonce))
    .join("\n");
}

/** Every text in it, wherever it stands. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
