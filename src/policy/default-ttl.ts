import { type Turn, turnOf } from "../base/index.ts";
import type { BlockKind, Ttl } from "../engine/frames/index.ts";

/** Turns until a block is lowered by one level, by kind. Blocks of other kinds have no ttl. */
const ttlTurns: Readonly<Partial<Record<BlockKind, number>>> = {
  user: 108,
  assistant: 108,
  reasoning: 12,
  "tool-call": 20,
  "tool-result": 20,
  media: 8,
};

export function ttlOf(kind: BlockKind, turn: Turn): Ttl | null {
  const spanTurns = ttlTurns[kind];
  return spanTurns === undefined ? null : { at: turnOf(turn + spanTurns), spanTurns };
}
