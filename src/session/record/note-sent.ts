import type { BlockId } from "../../base/index.ts";
import type { State } from "../../engine/index.ts";
import { answerMax } from "../../protocols/index.ts";
import type { Noted, RecordedLine } from "./recorded-line.ts";

/** Learns from a turn what its stream will be told: how large it is, and which names stand in it. */
export function noteSent({ sizes, names }: RecordedLine, noted: Noted, { blocks: recorded }: State): void {
  const { copy, request, exchange, turn, drafted } = noted;
  const { sent } = copy;
  if (sent === null) return;
  sizes.sent({ exchange: exchange.id, sent, model: request.model, answerMax: answerMax(request) });
  const isNext = exchange.relation !== "rewind" && exchange.relation !== "compacted";
  const { blocks, fresh } = drafted;
  const turnOf = (unit: number): number => {
    const block = blocks[unit];
    return block === undefined ? turn : (recorded.get(block)?.block.turn ?? turn);
  };
  const blockOf = (unit: number): BlockId | null => blocks[unit] ?? null;
  names.follow({ request, sent, turn, fresh, isNext, turnOf, blockOf });
}
