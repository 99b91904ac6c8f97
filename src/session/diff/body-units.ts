import { unitBytes, type WireGroup, type WireRequest, type WireUnit } from "../../protocols/index.ts";
import { clientUnits } from "../ledger/client-units.ts";

/** A unit where it stands in a body. */
export type BodyUnit = {
  readonly unit: WireUnit;
  readonly group: WireGroup;
  /** Which message it belongs to, from 0; null in front of them. */
  readonly message: number | null;
  /** Whether it begins its message. */
  readonly opens: boolean;
};

/** All of a body in the order in which providers read it: tools, system texts, messages. */
export function bodyUnits(request: WireRequest): readonly BodyUnit[] {
  const front = [request.tools, request.system].flatMap((group) =>
    group.units.map((unit) => ({ unit, group, message: null, opens: false })),
  );
  const numbers = new Map(request.messages.map((group, at) => [group, at]));
  const said = clientUnits(request, 0).map(({ unit, group, begins }) => ({
    unit,
    group,
    message: numbers.get(group) ?? null,
    opens: begins,
  }));
  return [...front, ...said];
}

/** Without its cache mark, and a bare string as the text block it stands for. */
export function bytesIn({ bytes }: WireRequest, { unit, group }: BodyUnit): Uint8Array {
  return unitBytes(bytes, group.range.start, unit);
}

/** The fields of a body that are no list of units, as they are written. */
export function fieldsIn({ bytes, members }: WireRequest): ReadonlyMap<string, string> {
  const fields = members.filter(({ key }) => key !== "tools" && key !== "system" && key !== "messages");
  return new Map(
    fields.map(({ key, value }) => [key, bytes.toString("utf8", value.start, value.end)] as const),
  );
}
