import { must } from "../../base/index.ts";
import type { Block } from "../../engine/frames/index.ts";
import { type AnswerUnit, unitBytes } from "../../protocols/index.ts";
import { wire } from "../runtime-protocol.ts";

/** The units of an answer from the bytes of its blocks, as a request repeats them. */
export function answerUnits(blocks: readonly Uint8Array[]): readonly AnswerUnit[] {
  if (blocks.length === 0) return [];
  const message = { role: "assistant", units: blocks, markedUnit: null } as const;
  const body = wire.write.request({
    model: "",
    answerTokensMax: 0,
    tools: [],
    system: [],
    messages: [message],
  });
  const request = must(wire.read.request(body, null), "blocks of an answer are JSON");
  return request.messages.flatMap(({ units, range }) =>
    units.map((unit) => ({ unit, bytes: Uint8Array.from(unitBytes(request.bytes, range.start, unit)) })),
  );
}

/** The blocks of an answer by the keys of its units. */
export function keyedAnswer(
  units: readonly AnswerUnit[],
  blocks: readonly Pick<Block, "id" | "message" | "turn">[],
) {
  return units.flatMap(({ unit: { key } }, at) => {
    const block = blocks[at];
    return block === undefined ? [] : [{ key, block: block.id, message: block.message, turn: block.turn }];
  });
}
