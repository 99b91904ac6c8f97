import { must } from "../../src/base/index.ts";
import { protocolOf, unitBytes, type WireGroup, type WireUnit } from "../../src/protocols/index.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

/** A unit of a body as it went upstream. */
export type UpstreamUnit = {
  readonly section: WireUnit["section"];
  readonly role: string;
  readonly kind: WireUnit["kind"];
  /** How its message begins; null where it is not the first of one. */
  readonly head: string | null;
  /** Its bytes, without its cache mark. */
  readonly text: string;
  readonly mark: string | null;
  readonly isDeferred: boolean;
};

/** The units of a body in the order in which a model reads them. */
export function upstreamUnits(body: string): readonly UpstreamUnit[] {
  const request = must(readRequest(Buffer.from(body), null), "the body is a request");
  const { bytes } = request;
  return [request.tools, request.system, ...request.messages].flatMap((group): UpstreamUnit[] => {
    if (group.units.length === 0 && request.messages.includes(group)) return [emptyMessage(group)];
    return group.units.map((unit, at) => ({
      section: unit.section,
      role: group.role,
      kind: unit.kind,
      head: unit.section === "messages" && at === 0 ? group.head : null,
      text: Buffer.from(unitBytes(bytes, group.range.start, unit)).toString(),
      mark: unit.mark,
      isDeferred: unit.isDeferred,
    }));
  });
}

/** A message without content, such as a change of effort, counts as a unit without bytes. */
function emptyMessage({ role, head, tail }: WireGroup): UpstreamUnit {
  const none = { section: "messages", kind: "ambient", text: "", mark: null, isDeferred: false } as const;
  return { ...none, role, head: `${head}${tail}` };
}

/** What of a unit never changes once it was sent. */
export function frozen({ section, head, text }: UpstreamUnit): string {
  return `${section} ${head ?? ""}${text}`;
}

/** How many units two bodies have in common from their start. */
export function sharedUnits(before: readonly UpstreamUnit[], after: readonly UpstreamUnit[]): number {
  const differs = before.findIndex((unit, at) => {
    const other = after[at];
    return other === undefined || frozen(unit) !== frozen(other);
  });
  return differs === -1 ? before.length : differs;
}

/** What a model sees at once: deferred tools wait until they are named. */
export function seen(units: readonly UpstreamUnit[]): readonly UpstreamUnit[] {
  return units.filter(({ isDeferred }) => !isDeferred);
}

export function reasoningIn(units: readonly UpstreamUnit[]): readonly string[] {
  return units.filter(({ kind }) => kind === "reasoning").map(({ text }) => text);
}
