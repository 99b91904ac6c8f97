import { clientUnits } from "../../ledger/index.ts";
import { unitBytes, type WireGroup, type WireRequest, type WireUnit } from "../../protocols/index.ts";

/** A unit and its position in a body. */
export type BodyUnit = {
  readonly unit: WireUnit;
  readonly group: WireGroup;
  /** The index of its message; null if it stands before the messages. */
  readonly message: number | null;
  /** Whether it begins its message. */
  readonly opens: boolean;
};

/** All units of a body in the order in which providers read it: tools, system texts, messages. */
export function bodyUnits(request: WireRequest): readonly BodyUnit[] {
  const front = [request.tools, request.system].flatMap((group) =>
    group.units.map((unit) => ({ unit, group, message: null, opens: false })),
  );
  const numbers = new Map(request.messages.map((group, at) => [group, at]));
  const messageUnits = clientUnits(request, 0).map(({ unit, group, isFirst }) => ({
    unit,
    group,
    message: numbers.get(group) ?? null,
    opens: isFirst,
  }));
  return [...front, ...messageUnits];
}

/** The unit's bytes without its cache mark; a bare string becomes a text block. */
export function bodyUnitBytes({ bytes }: WireRequest, { unit, group }: BodyUnit): Uint8Array {
  return unitBytes(bytes, group.range.start, unit);
}

/** The raw fields of a body besides its lists of units. */
export function bodyFields({ bytes, members }: WireRequest): ReadonlyMap<string, string> {
  const fields = members.filter(({ key }) => key !== "tools" && key !== "system" && key !== "messages");
  return new Map(
    fields.map(({ key, value }) => [key, bytes.toString("utf8", value.start, value.end)] as const),
  );
}
