import { limits } from "../../base/index.ts";
import type { AddedBlock, RecordedExchange } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { asOf, type Moment, streamOf } from "../../engine/moment/index.ts";
import { viewIn } from "../../log/index.ts";
import { readStoredRequest, type WireRequest } from "../../protocols/index.ts";
import { type BodyDiff, bodyDiff } from "./body-diff.ts";
import { type DiffSide, type DiffSides, ownLineTest, sideOf } from "./diff-units.ts";
import { type ExchangeTurn, exchangeTurn, sentFacts } from "./sent-facts.ts";

/** The body an exchange sent upstream, and the body it is compared with. */
export type BodyPair = {
  readonly exchange: RecordedExchange;
  /** The exchange whose body it is compared with; null if that is the client's body. */
  readonly base: RecordedExchange | null;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
};
export type BodyComparison = DiffSides & { readonly diff: BodyDiff };

/** Null if a body cannot be parsed or is too large. */
export function compareBodies(moment: Moment, bodies: BodyPair): BodyComparison | null {
  const { exchange, base } = bodies;
  const [before, after] = [readBody(bodies.before, base ?? exchange), readBody(bodies.after, exchange)];
  if (before === null || after === null) return null;
  const factsFor = (sender: RecordedExchange) => (units: DiffSide["units"]) =>
    sentFacts(moment, sender, units);
  const sides = {
    before: sideOf(before, base === null ? null : factsFor(base)),
    after: sideOf(after, factsFor(exchange)),
  };
  const turn = exchangeTurn(moment, exchange.id);
  const source = {
    moment: asOf(moment, turn?.sent.seq ?? exchange.openedSeq),
    view: viewOfExchange(moment, exchange, turn),
  };
  const isPlain = exchange.rendering === "plain";
  const isRound = exchange.relation === "round";
  const isOwnLine = ownLineTest(sides.after);
  const blockOf = contentBlocks(moment);
  const diff = bodyDiff({ ...sides, source, isPlain, isRound, isOwnLine, blockOf });
  return { ...sides, diff };
}

/** A body that was sent upstream, with its facts; null if it cannot be parsed. */
export function sentSide(moment: Moment, exchange: RecordedExchange, bytes: Uint8Array): DiffSide | null {
  const request = readBody(bytes, exchange);
  return request === null ? null : sideOf(request, (units) => sentFacts(moment, exchange, units));
}

function readBody(bytes: Uint8Array, exchange: RecordedExchange): WireRequest | null {
  return bytes.length > limits.diffBytesMax ? null : readStoredRequest(bytes, exchange);
}

/** A side request is no turn; it uses the view of its stream. */
function viewOfExchange(
  moment: Moment,
  { stream: id }: RecordedExchange,
  turn: ExchangeTurn | null,
): View | null {
  if (turn !== null) return turn.view;
  const stream = id === null ? null : streamOf(moment, id);
  return stream === null ? null : viewIn(moment, stream);
}

/** The index is built at the first lookup. */
function contentBlocks({ state }: Moment): (content: string) => AddedBlock | null {
  let blocks: ReadonlyMap<string, AddedBlock> | null = null;
  return (content) => {
    blocks ??= new Map([...state.blocks.entries()].map(([, { block }]) => [block.content, block]));
    return blocks.get(content) ?? null;
  };
}
