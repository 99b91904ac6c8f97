import { clientUnits } from "../../ledger/index.ts";
import {
  type BodyFieldUse,
  protocolOf,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";

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

/** A field of a body besides its units: its raw value, and what it holds. */
export type BodyField = { readonly value: string; readonly use: BodyFieldUse };

/** The fields of a body that are no lists of units, by their names. */
export function bodyFields(request: WireRequest): ReadonlyMap<string, BodyField> {
  const { bytes, members } = request;
  const fields = new Map<string, BodyField>();
  for (const { key, value } of members) {
    const use = protocolOf(request).read.fieldUse(key);
    if (!isSection(use)) fields.set(key, { value: bytes.toString("utf8", value.start, value.end), use });
  }
  return fields;
}

/** The section whose units stand at this byte, or behind it. Null for another field. */
export function sectionAt(request: WireRequest, byte: number): WireUnit["section"] | null {
  const field = request.members.find(({ value }) => byte < value.end);
  const use = field === undefined ? "other" : protocolOf(request).read.fieldUse(field.key);
  return isSection(use) ? use : null;
}

function isSection(use: BodyFieldUse): use is WireUnit["section"] {
  return use === "tools" || use === "system" || use === "messages";
}
