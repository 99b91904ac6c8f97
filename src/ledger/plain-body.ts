import {
  protocolOf,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../protocols/index.ts";
import { removeWithheld, type WithheldContent } from "./withheld.ts";

/**
 * The client's body without any reasoning. A provider that binds reasoning to its prefix allows no other
 * edit. It needs no earlier requests, so it still works when the ledger is lost.
 */
export function plainBody(request: WireRequest, withheld: WithheldContent): readonly Uint8Array[] {
  const messages = request.messages.flatMap((group) => plainMessage(request, group, withheld));
  const pieces = messages.flatMap((message, at) => (at === 0 ? [message] : [COMMA, message]));
  return protocolOf(request).write.body(request, { messages: [...pieces, CLOSE] });
}

function plainMessage(
  request: WireRequest,
  group: WireGroup,
  withheld: WithheldContent,
): readonly Uint8Array[] {
  const { bytes } = request;
  const { clientUnit } = protocolOf(request).write;
  const clean = (unit: WireUnit): Uint8Array | null =>
    withheld.size === 0 ? null : removeWithheld(withheld, unit, unitBytes(bytes, group.range.start, unit));
  const units = group.units.map((unit) => ({ unit, cleaned: clean(unit) }));
  const isChanged = units.some(({ unit, cleaned }) => unit.kind === "reasoning" || cleaned !== null);
  if (!isChanged) return [bytes.subarray(group.range.start, group.range.end)];
  const kept = units.filter(({ unit }) => unit.kind !== "reasoning");
  // A message of nothing but reasoning is left out: the provider refuses empty messages.
  if (kept.length === 0) return [];
  const blocks = kept.map(({ unit, cleaned }) => cleaned ?? clientUnit(request, group, unit));
  const list = blocks.flatMap((block, at) => (at === 0 ? [block] : [COMMA, block]));
  return [Buffer.concat([Buffer.from(group.head), ...list, Buffer.from(group.tail)])];
}

const CLOSE = Buffer.from("]");
const COMMA = Buffer.from(",");
