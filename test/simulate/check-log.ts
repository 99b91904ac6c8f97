import { blockId, hashContent, must, unwrap } from "../../src/base/index.ts";
import { type Delta, type Frame, levels } from "../../src/engine/frames/index.ts";
import type { State, View } from "../../src/engine/index.ts";
import {
  type BlockView,
  blockViewOf,
  factOf,
  factValue,
  isFocused,
  isPinned,
  type Moment,
  momentAt,
  now,
  pairOf,
  sentPath,
  shownOf,
  streamOf,
  turnNow,
} from "../../src/engine/moment/index.ts";
import type { SentRequestUnit } from "../../src/exchange/index.ts";
import { failLaw } from "./law-error.ts";
import { nonce } from "./seen-body.ts";

/** What the log says is shown is what the body of the last turn shows. */
export function checkShown(state: State, stream: string, path: readonly SentRequestUnit[]): void {
  const view = viewNamed(state, stream);
  if (view === null) return;
  // Of several requests at once only the last one is what the log says.
  const sent = sentPath(now(state), view).map((unit) => state.units.get(unit)?.bytes);
  const hashes = path.map(({ bytes }) => hashContent(bytes));
  if (sent.slice(sent.length - hashes.length).join() !== hashes.join()) return;
  const anchored = new Map([...state.blocks.entries()].map(([id, { block }]) => [block.anchor, id]));
  for (const { numbered, as, key } of path) {
    if (numbered === null) continue;
    // A form of what was said before that only the log has taken for something new has its number there.
    const id = state.blocks.get(numbered.block) ? numbered.block : anchored.get(key);
    const shown = id === undefined ? "nothing" : shownOf(now(state), view, blockId(id));
    if (shown !== as) failLaw("log", `#${numbered.block} is shown ${as}, and the log says ${shown}`, key);
  }
}

export function viewNamed(state: State, stream: string): View | null {
  const views = [...state.views.entries()].map(([, view]) => view);
  return views.find((view) => streamOf(now(state), view.stream)?.name === stream) ?? null;
}

/** Policy leaves alone what somebody has a hold on, and what has not reached its end. */
export function checkPolicy(state: State, frame: Frame): void {
  if (frame.actor !== "policy" || frame.cause.type !== "policy") return;
  const before = unwrap(momentAt(state, frame.seq - 1));
  for (const delta of frame.deltas) {
    const place = isLowering(delta) ? placeBefore(before, delta) : null;
    if (place === null) continue;
    const what = `${delta.type} of #${place.block.id} (${frame.cause.reason})`;
    const why = heldBy(place) ?? (frame.cause.reason === "its turns are over" ? endOf(place) : kindOf(place));
    if (why !== null) failLaw("policy", `${what}: ${why}`, JSON.stringify(delta));
  }
}

type FactDelta = Extract<Delta, { readonly type: "level-set" | "archive-set" }>;

function isLowering(delta: Delta): delta is FactDelta {
  if (delta.type === "archive-set") return delta.to.value !== null;
  return delta.type === "level-set" && levels.indexOf(delta.to.value) > levels.indexOf(delta.from.value);
}

function placeBefore(moment: Moment, { view: id, block }: FactDelta): BlockView | null {
  return blockViewOf(moment, must(moment.state.views.get(id), "a fact belongs to a view"), block);
}

function heldBy(place: BlockView): string | null {
  if (isPinned(place)) return "it is pinned";
  if (pairOf(place).some((member) => factValue(member, "selection"))) return "it is selected";
  if (pairOf(place).some(isFocused)) return "it is focused";
  const { by } = factOf(place, "level");
  return by === "user" || by === "model" ? `its level was set by the ${by}` : null;
}

function endOf(place: BlockView): string | null {
  const stream = must(streamOf(place.moment, place.view.stream), "a view has a stream");
  const turn = turnNow(place.moment, stream);
  const isOver = (member: BlockView): boolean => (factValue(member, "ttl")?.at ?? Number.MAX_VALUE) <= turn;
  const alive = pairOf(place).filter((member) => factValue(member, "archive") === null);
  return alive.every(isOver) ? null : "its turns are not over";
}

const toolKinds: readonly string[] = ["tool-call", "tool-result"];

/** Before its end only what tools said is lowered, with the call and what was thought before it. */
function kindOf(place: BlockView): string | null {
  const { kind } = place.block;
  const isOfTool = pairOf(place).some(({ block }) => toolKinds.includes(block.kind));
  return isOfTool && kind !== "user" && kind !== "system" ? null : `it is of kind ${kind}`;
}

/** What somebody has a hold on stays, however full the window is. */
export function checkHeld(state: State, stream: string, fresh: readonly SentRequestUnit[]): void {
  const view = viewNamed(state, stream);
  for (const { numbered, as, bytes, cleared } of fresh) {
    if (numbered === null || as === "original" || view === null) continue;
    // What the user withholds or puts in other words says so without a line of ours.
    if (cleared !== true && !Buffer.from(bytes).includes(`[${nonce} #`)) continue;
    const place = blockViewOf(now(state), view, blockId(numbered.block));
    // What the user has lowered themselves they may have pinned as well.
    if (place === null || factOf(place, "archive").by === "user") continue;
    const why = heldBy(place);
    const wanted = factValue(place, "archive") !== null || factValue(place, "level") !== "original";
    if (why !== null && !wanted) failLaw("policy", `#${numbered.block} is shown ${as}, though ${why}`, "");
  }
}
