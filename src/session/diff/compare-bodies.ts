import { limits } from "../../base/index.ts";
import {
  type AddedBlock,
  asOf,
  type Moment,
  type RecordedExchange,
  streamOf,
  type View,
} from "../../engine/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { viewIn } from "../read/look.ts";
import { type BodyDiff, bodyDiff } from "./body-diff.ts";
import { ownLineOf, type Side, type Sides, sideOf } from "./diff-units.ts";
import { sentFacts, type TurnOf, turnOfExchange } from "./sent-facts.ts";

/** What went upstream with an exchange, and what it is compared with. */
export type Bodies = {
  readonly exchange: RecordedExchange;
  /** The exchange whose body it is compared with; null: it is what the client sent. */
  readonly other: RecordedExchange | null;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
};
export type Compared = Sides & { readonly diff: BodyDiff };

/** Null: they cannot be looked into, or are too large for it. */
export function compareBodies(moment: Moment, bodies: Bodies): Compared | null {
  const { exchange, other } = bodies;
  const [before, after] = [readBody(bodies.before), readBody(bodies.after)];
  if (before === null || after === null) return null;
  const factsFor = (of: RecordedExchange) => (units: Side["units"]) => sentFacts(moment, of, units);
  const sides = {
    before: sideOf(before, other === null ? null : factsFor(other)),
    after: sideOf(after, factsFor(exchange)),
  };
  const turn = turnOfExchange(moment, exchange.id);
  const witness = {
    moment: asOf(moment, turn?.sent.seq ?? exchange.openedSeq),
    view: viewOfExchange(moment, exchange, turn),
  };
  const isPlain = exchange.rendering === "plain";
  const isRound = exchange.relation === "round";
  const isOwnLine = ownLineOf(sides.after);
  const blockOf = contentBlocks(moment);
  const diff = bodyDiff({ ...sides, witness, isPlain, isRound, isOwnLine, blockOf });
  return { ...sides, diff };
}

/** A body that went upstream, alone; null: it cannot be looked into. */
export function sentSide(moment: Moment, exchange: RecordedExchange, bytes: Uint8Array): Side | null {
  const request = readBody(bytes);
  return request === null ? null : sideOf(request, (units) => sentFacts(moment, exchange, units));
}

function readBody(bytes: Uint8Array): WireRequest | null {
  return bytes.length > limits.diffBytesMax ? null : ingestRequest(bytes, null);
}

/** What was sent beside a stream is no turn, and is seen as the stream's own view sees it. */
function viewOfExchange(moment: Moment, { stream: id }: RecordedExchange, turn: TurnOf | null): View | null {
  if (turn !== null) return turn.view;
  const stream = id === null ? null : streamOf(moment, id);
  return stream === null ? null : viewIn(moment, stream);
}

/** Looked through once, and only if anybody asks. */
function contentBlocks({ state }: Moment): (content: string) => AddedBlock | null {
  let blocks: ReadonlyMap<string, AddedBlock> | null = null;
  return (content) => {
    blocks ??= new Map([...state.blocks.entries()].map(([, { block }]) => [block.content, block]));
    return blocks.get(content) ?? null;
  };
}
