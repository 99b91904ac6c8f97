import type { World } from "../call.ts";
import type { ClientName } from "../launch/wiring.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";
import { editJson, readJsonValue } from "./edit-json.ts";
import { editLines, readLineValue } from "./edit-lines.ts";
import { replaceFile, textAt } from "./files.ts";
import { type FilePlan, type JsonValue, plansFor } from "./plan.ts";
import { type FileRecord, hashOf, readRecord, writeRecord } from "./record.ts";

export type Installed = {
  /** Files that were written now; none: everything was there. */
  readonly written: readonly string[];
  /** What stood where ours stands now. */
  readonly replaced: readonly { readonly name: string; readonly value: string }[];
};

type Wish = { readonly client: ClientName; readonly url: string; readonly world: World };
type Prepared = { readonly record: FileRecord; readonly text: string | null };

/** Leads a client here for good. All is prepared before anything is written; twice is the same as once. */
export function install({ client, url, world }: Wish): Outcome<Installed> {
  const earlier = readRecord(client, world);
  const prepared: Prepared[] = [];
  for (const plan of plansFor(client, url, world)) {
    const known = earlier?.files.find(({ path }) => path === plan.path) ?? null;
    const one = prepare(plan, known);
    if (!one.ok) return one;
    prepared.push(one.value);
  }
  try {
    // The backup first: whatever happens then, the way back is known.
    writeRecord(client, world, { v: 1, url, files: prepared.map(({ record }) => record) });
    for (const { record, text } of prepared) if (text !== null) replaceFile(record.path, text);
  } catch (error) {
    return stop(exitCodes.failed, error instanceof Error ? error.message : String(error));
  }
  const written = prepared.flatMap(({ record, text }) => (text === null ? [] : [record.path]));
  const replaced = prepared.flatMap(({ record }) =>
    record.values.flatMap(({ path, before, value }) =>
      before === null || before === value ? [] : [{ name: path.join("."), value: before }],
    ),
  );
  return succeed({ written, replaced });
}

/** Text null: the file is as it should be. */
function prepare(plan: FilePlan, known: FileRecord | null): Outcome<Prepared> {
  const now = textAt(plan.path);
  if (now instanceof Error) return stop(exitCodes.failed, `${plan.path} cannot be read (${now.message}).`);
  const wanted = plan.values.filter(({ path }) => !isKept(plan, now, path));
  const missing = wanted.filter(({ path, value }) => valueAt(plan, now, path) !== value);
  const text = missing.length === 0 ? { text: now ?? "" } : edited(plan, now, missing);
  if ("problem" in text) {
    return stop(
      exitCodes.failed,
      `${plan.path} was left alone: ${text.problem}. Set in it:\n${byHand(wanted)}`,
    );
  }
  const values = wanted.map(({ path, value }) => {
    const recorded = known?.values.find((each) => each.path.join() === path.join());
    return { path, value, before: recorded === undefined ? valueAt(plan, now, path) : recorded.before };
  });
  const record: FileRecord = {
    path: plan.path,
    form: plan.form,
    before: known === null ? now : withoutOurs(known, now),
    afterHash: hashOf(text.text),
    values,
  };
  return succeed({ record, text: missing.length === 0 ? null : text.text });
}

/** What was ours already is not what was there before us, whatever else somebody has written since. */
function withoutOurs(known: FileRecord, now: string | null): string | null {
  if (now === null || hashOf(now) === known.afterHash) return known.before;
  const ours = known.values.filter(({ path, value }) => valueAt(known, now, path) === value);
  if (ours.length === 0) return now;
  const text = edited(
    known,
    now,
    ours.map(({ path, before }) => ({ path, value: before })),
  );
  return "problem" in text ? now : text.text;
}

function isKept({ unlessSet, ...plan }: FilePlan, text: string | null, path: readonly string[]): boolean {
  return unlessSet === true && valueAt(plan, text, path) !== null;
}

export function valueAt({ form }: Pick<FilePlan, "form">, text: string | null, path: readonly string[]) {
  if (text === null) return null;
  return form === "json" ? readJsonValue(text, path) : readLineValue(text, path[0] ?? "", form);
}

type NewValue = { readonly path: readonly string[]; readonly value: string | null };

export function edited({ form }: Pick<FilePlan, "form">, text: string | null, values: readonly NewValue[]) {
  if (form === "json") return editJson(text, values);
  const changed = values.reduce(
    (lines, { path, value }) => editLines(lines, { name: path[0] ?? "", value }, form),
    text ?? "",
  );
  return { text: changed };
}

function byHand(values: readonly JsonValue[]): string {
  return values.map(({ path, value }) => `  ${path.join(".")} = ${JSON.stringify(value)}`).join("\n");
}
