import {
  emitBody,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";
import { type Withheld, withoutWithheld } from "./withheld.ts";

/**
 * The client's body without any of its reasoning, the one edit a provider allows that binds reasoning to what
 * was sent before it. It needs no memory, so it is what is left when the ledger is lost.
 */
export function plainBody(request: WireRequest, withheld: Withheld): readonly Uint8Array[] {
  const messages = request.messages.flatMap((group) => plainMessage(request, group, withheld));
  const pieces = messages.flatMap((message, at) => (at === 0 ? [message] : [COMMA, message]));
  return emitBody(request, new Map([["messages", [OPEN, ...pieces, CLOSE]]]));
}

function plainMessage({ bytes }: WireRequest, group: WireGroup, withheld: Withheld): readonly Uint8Array[] {
  const said = group.units.map((unit) => ({ unit, other: otherWords({ bytes, group, unit }, withheld) }));
  const isTouched = said.some(({ unit, other }) => unit.kind === "reasoning" || other !== null);
  if (!isTouched) return [bytes.subarray(group.range.start, group.range.end)];
  const kept = said.filter(({ unit }) => unit.kind !== "reasoning");
  // A message that was nothing but reasoning is not said at all: an empty one would be refused.
  if (kept.length === 0) return [];
  const blocks = kept.map(({ unit, other }) => other ?? marked(unit, bytes, group));
  const list = blocks.flatMap((block, at) => (at === 0 ? [block] : [COMMA, block]));
  return [Buffer.concat([Buffer.from(group.head), ...list, Buffer.from(group.tail)])];
}

type Said = { readonly bytes: Buffer; readonly group: WireGroup; readonly unit: WireUnit };

function otherWords({ bytes, group, unit }: Said, withheld: Withheld): Uint8Array | null {
  if (withheld.size === 0) return null;
  return withoutWithheld(withheld, unit, unitBytes(bytes, group.range.start, unit));
}

/** As the client wrote it, its cache mark included. */
function marked(unit: WireUnit, bytes: Buffer, group: WireGroup): Uint8Array {
  const block = Buffer.from(unitBytes(bytes, group.range.start, unit));
  if (unit.mark === null) return block;
  const mark = Buffer.from(`,"cache_control":${unit.mark}}`);
  return Buffer.concat([block.subarray(0, -1), mark]);
}

const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");
const COMMA = Buffer.from(",");
