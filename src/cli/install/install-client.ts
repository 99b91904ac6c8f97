import { exitCodes } from "../exit-codes.ts";
import type { ClientName } from "../launch/client-addresses.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import type { SystemInfo } from "../verb-call.ts";
import { type ClientFilePlan, clientFilePlans, type FileValue } from "./client-files.ts";
import { editText, valueAt } from "./edit-settings.ts";
import { type FileRecord, hashOf, readRecord, writeRecord } from "./install-record.ts";
import { replaceFile, textAt } from "./replace-file.ts";

export type InstallResult = {
  /** The files that were written; empty if everything was in place. */
  readonly written: readonly string[];
  /** The values that ours replaced. */
  readonly replaced: readonly { readonly name: string; readonly value: string }[];
};

type InstallInput = { readonly client: ClientName; readonly url: string; readonly system: SystemInfo };
type PreparedFile = { readonly record: FileRecord; readonly text: string | null };

/**
 * Routes a client through Aperture permanently. All files are prepared before the first is written;
 * installing twice changes nothing.
 */
export function installClient({ client, url, system }: InstallInput): CliResult<InstallResult> {
  const earlier = readRecord(client, system);
  const prepared: PreparedFile[] = [];
  for (const plan of clientFilePlans(client, url, system)) {
    const known = earlier?.files.find(({ path }) => path === plan.path) ?? null;
    const one = prepare(plan, known);
    if (!one.ok) return one;
    prepared.push(one.value);
  }
  try {
    // The backup is written first, so that uninstall works whatever happens next.
    writeRecord(client, system, { v: 1, url, files: prepared.map(({ record }) => record) });
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

/** The text is null if the file needs no change. */
function prepare(plan: ClientFilePlan, known: FileRecord | null): CliResult<PreparedFile> {
  const now = textAt(plan.path);
  if (now instanceof Error) return stop(exitCodes.failed, `${plan.path} cannot be read (${now.message}).`);
  const wanted = plan.values.filter(({ path }) => !isKept(plan, now, path));
  const missing = wanted.filter(({ path, value }) => valueAt(plan, now, path) !== value);
  const text = missing.length === 0 ? { text: now ?? "" } : editText(plan, now, missing);
  if ("problem" in text) {
    return stop(
      exitCodes.failed,
      `${plan.path} was not changed: ${text.problem}. Set these values by hand:\n${manualText(wanted)}`,
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

/** The content before Aperture came: our own values do not count, and later changes by others do. */
function withoutOurs(known: FileRecord, now: string | null): string | null {
  if (now === null || hashOf(now) === known.afterHash) return known.before;
  const ours = known.values.filter(({ path, value }) => valueAt(known, now, path) === value);
  if (ours.length === 0) return now;
  const text = editText(
    known,
    now,
    ours.map(({ path, before }) => ({ path, value: before })),
  );
  return "problem" in text ? now : text.text;
}

function isKept(
  { unlessSet, ...plan }: ClientFilePlan,
  text: string | null,
  path: readonly string[],
): boolean {
  return unlessSet === true && valueAt(plan, text, path) !== null;
}

function manualText(values: readonly FileValue[]): string {
  return values.map(({ path, value }) => `  ${path.join(".")} = ${JSON.stringify(value)}`).join("\n");
}
