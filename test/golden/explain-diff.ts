import { must, type SessionId, unwrap } from "../../src/base/index.ts";
import type { RecordedExchange } from "../../src/engine/frames/index.ts";
import { emptyState, replayFrames } from "../../src/engine/index.ts";
import { exchangesOf, now } from "../../src/engine/moment/index.ts";
import type { DiffEntry } from "../../src/queries/diff/body-diff.ts";
import { type BodyUnit, bodyUnitBytes } from "../../src/queries/diff/body-units.ts";
import { type BodyComparison, compareBodies } from "../../src/queries/diff/compare-bodies.ts";
import type { DiffSide } from "../../src/queries/diff/diff-units.ts";
import type { Store } from "../../src/store/index.ts";

export type Accounted = {
  readonly exchange: RecordedExchange;
  readonly compared: BodyComparison;
  /** What the diff does not explain, in words; empty: every byte has its reason. */
  readonly missing: readonly string[];
};

/** Applies the diff of every exchange in a store to what the client sent, and looks for what is left. */
export async function accounted(store: Store): Promise<readonly Accounted[]> {
  await store.flush();
  const all: Accounted[] = [];
  for (const { session } of unwrap(await store.sessions())) {
    const frames = unwrap(await store.frames({ session, after: 0, limit: 100_000 }));
    const moment = now(unwrap(replayFrames(emptyState(session), frames)));
    for (const exchange of exchangesOf(moment)) {
      const bodies = await bodiesOf(store, session, exchange);
      const compared = bodies === null ? null : compareBodies(moment, { exchange, base: null, ...bodies });
      if (compared !== null) all.push({ exchange, compared, missing: missingIn(compared) });
    }
  }
  return all;
}

async function bodiesOf(store: Store, session: SessionId, { id, rendering }: RecordedExchange) {
  const client = await store.body({ session, exchange: id, side: "client-request" });
  const sent = await store.body({ session, exchange: id, side: "upstream-request" });
  const upstream = sent.ok ? sent.value : rendering === "raw" && client.ok ? client.value : null;
  return client.ok && upstream !== null ? { before: client.value, after: upstream } : null;
}

export function missingIn(compared: BodyComparison): readonly string[] {
  const { before, after, diff } = compared;
  const reasons = [...diff.entries, ...diff.fields].flatMap((one) => one.reasons);
  const marks = diff.entries.flatMap(({ mark }) => mark?.reasons ?? []);
  return [
    ...coverage("before", before, diff.entries),
    ...coverage("after", after, diff.entries),
    ...diff.entries
      .filter((entry) => !isExplained(compared, entry))
      .map((entry) => `no reason: ${show(compared, entry)}`),
    ...diff.entries
      .filter((entry) => isUnknown(compared, entry))
      .map((entry) => `nobody knows why: ${show(compared, entry)}`),
    ...diff.fields
      .filter(({ reasons: why }) => why.some(({ code }) => code === "unknown"))
      .map(({ name }) => name),
    ...[...reasons, ...marks].filter(({ words }) => words === "").map(({ code }) => `no words for ${code}`),
    ...otherBody(compared),
  ];
}

/** Every unit stands in one row, and only in one. */
function coverage(
  name: "before" | "after",
  { units }: DiffSide,
  entries: readonly DiffEntry[],
): readonly string[] {
  const seen = entries.flatMap((entry) => entry[name]).sort((a, b) => a - b);
  const isWhole = seen.length === units.length && seen.every((at, index) => at === index);
  return isWhole ? [] : [`${name}: ${seen.length} of ${units.length} units stand in a row`];
}

/** A report that never reached the log tells it nothing: of such a unit it may say that it does not know. */
function isUnknown({ after }: BodyComparison, { after: [at], reasons }: DiffEntry): boolean {
  const isReported = at === undefined || after.facts?.[at]?.origin !== null;
  return isReported && reasons.some(({ code }) => code === "unknown");
}

/** What has no reason to differ does not. */
function isExplained(
  { before, after }: BodyComparison,
  { before: had, after: has, reasons }: DiffEntry,
): boolean {
  if (reasons.length > 0) return true;
  const [one, other] = [before.units[had[0] ?? -1], after.units[has[0] ?? -1]];
  return had.length === 1 && has.length === 1 && one?.unit.hash === other?.unit.hash;
}

function show({ before, after }: BodyComparison, entry: DiffEntry): string {
  const text = (side: DiffSide, [at]: readonly number[]): string => {
    const unit = side.units[at ?? -1];
    if (unit === undefined) return "-";
    const { origin, as } = side.facts?.[at ?? -1] ?? {};
    const said = Buffer.from(bodyUnitBytes(side.request, unit)).toString().slice(0, 300);
    return `${unit.unit.role} ${origin ?? "?"} ${as ?? ""} ${said}`;
  };
  return `${text(before, entry.before)} => ${text(after, entry.after)}`;
}

type DiffText = { readonly block: unknown; readonly mark: unknown };
type Message = { readonly rest: Readonly<Record<string, unknown>>; readonly said: readonly DiffText[] };
type Spelled = {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly tools: readonly DiffText[];
  readonly system: readonly DiffText[];
  readonly messages: readonly Message[];
};

/** The client's body with the diff applied is what went upstream. */
function otherBody(compared: BodyComparison): readonly string[] {
  const [made, sent] = [applied(compared), spelled(compared.after)];
  const names = ["fields", "tools", "system", "messages"] as const;
  return names.flatMap((name) => {
    const [a, b] = [JSON.stringify(made[name]), JSON.stringify(sent[name])];
    if (a === b) return [];
    let at = 0;
    while (a[at] === b[at]) at += 1;
    return [
      `${name} differ: ${a.slice(Math.max(0, at - 80), at + 160)} | ${b.slice(Math.max(0, at - 80), at + 160)}`,
    ];
  });
}

function applied({ before, after, diff }: BodyComparison): Spelled {
  const fields = { ...spelled(before).fields };
  for (const { name, after: value } of diff.fields) {
    if (value === null) delete fields[name];
    else fields[name] = JSON.parse(value);
  }
  const placed = diff.entries.flatMap((entry) => entry.after.map((at, nth) => ({ at, nth, entry })));
  placed.sort((a, b) => a.at - b.at);
  const made = placed.map(({ at, nth, entry }) => {
    const unit = must(after.units[at], "it lies in the body");
    const [from] = entry.before;
    const old = from === undefined ? null : must(before.units[from], "it lies in the body");
    const isSame = entry.reasons.length === 0;
    const said = isSame ? blockOf(before, must(old, "it is on both sides")) : blockOf(after, unit);
    const isLast = nth === entry.after.length - 1;
    const marks = entry.before.map((one) => before.units[one]?.unit.mark ?? null);
    const had = marks.findLast((one) => one !== null) ?? null;
    const mark = isLast ? (entry.mark === null ? had : entry.mark.after) : null;
    return { unit, old, said: { block: said, mark: mark === null ? null : JSON.parse(mark) } };
  });
  const only = (section: string) => made.filter(({ unit }) => unit.unit.section === section);
  return {
    fields,
    tools: only("tools").map(({ said }) => said),
    system: only("system").map(({ said }) => said),
    messages: messagesFrom(only("messages"), { before, after }),
  };
}

type Made = { readonly unit: BodyUnit; readonly old: BodyUnit | null; readonly said: DiffText };

/**
 * Messages begin where the client's did, or where we put one in; the client's words join a message of ours
 * that was opened for them.
 */
function messagesFrom(
  made: readonly Made[],
  sides: { readonly before: DiffSide; readonly after: DiffSide },
): readonly Message[] {
  const messages: { rest: Message["rest"]; said: DiffText[]; of: number | null; role: string }[] = [];
  for (const { unit, old, said } of made) {
    const last = messages.at(-1);
    const { role } = unit.unit;
    const from = old?.message ?? null;
    const joins =
      from === null
        ? !unit.opens
        : last?.of === from || (last?.of === null && last.role === role && !unit.opens);
    const block = said.block === undefined ? [] : [said];
    if (joins && last !== undefined) {
      last.said.push(...block);
      last.of ??= from;
      continue;
    }
    const rest = from === null ? restOf(sides.after, unit.message) : restOf(sides.before, from);
    messages.push({ rest, said: block, of: from, role });
  }
  return messages.map(({ rest, said }) => ({ rest, said }));
}

function restOf({ request }: DiffSide, message: number | null): Message["rest"] {
  const { range } = must(request.messages[message ?? -1], "it has a message");
  const { content: _, ...rest } = JSON.parse(
    request.bytes.toString("utf8", range.start, range.end),
  ) as Record<string, unknown>;
  return sorted(rest);
}

function blockOf({ request }: DiffSide, unit: BodyUnit): unknown {
  const bytes = bodyUnitBytes(request, unit);
  return bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString());
}

function sorted(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A body as the test reads it: by JSON alone, and not by the code that is tested. */
function spelled({ request }: DiffSide): Spelled {
  const body = JSON.parse(request.bytes.toString()) as Record<string, unknown>;
  const { tools = [], system = [], messages, ...fields } = body;
  return {
    fields,
    tools: blocks(tools),
    system: blocks(system),
    messages: (messages as readonly Record<string, unknown>[]).map(({ content, ...rest }) => ({
      rest: sorted(rest),
      said: blocks(content),
    })),
  };
}

function blocks(content: unknown): readonly DiffText[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ block: { type: "text", text: content }, mark: null }];
  }
  return (content as readonly Record<string, unknown>[]).map((block) => {
    const marks: unknown[] = [];
    const stripped = withoutMark(block, marks);
    return { block: stripped, mark: marks.at(-1) ?? null };
  });
}

function withoutMark(block: Record<string, unknown>, marks: unknown[]): Record<string, unknown> {
  const { cache_control: mark, ...rest } = block;
  const { content } = rest;
  const inner = Array.isArray(content)
    ? { ...rest, content: content.map((one: Record<string, unknown>) => withoutMark(one, marks)) }
    : rest;
  if (mark !== undefined) marks.push(mark);
  return inner;
}
