import { exitCodes } from "../exit-codes.ts";
import type { ClientName } from "../launch/client-addresses.ts";
import { isLoopbackUrl } from "../local-address.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import type { SystemInfo } from "../verb-call.ts";
import { clientFilePlans } from "./client-files.ts";
import { editText, valueAt } from "./edit-settings.ts";
import { dropRecord, type FileRecord, hashOf, readRecord } from "./install-record.ts";
import { replaceFile, textAt } from "./replace-file.ts";

export type UninstallResult = {
  /** Files that are restored byte for byte. */
  readonly restored: readonly string[];
  /** Files that changed since: only our own values were removed. */
  readonly cleaned: readonly string[];
};

type UninstallInput = {
  readonly client: ClientName;
  readonly system: SystemInfo;
  /** Also remove a loopback address that Aperture did not set. */
  readonly isClean: boolean;
};

/** Works without a running Aperture and with invalid settings. */
export function uninstallClient({ client, system, isClean }: UninstallInput): CliResult<UninstallResult> {
  const record = readRecord(client, system);
  const [restored, cleaned]: [string[], string[]] = [[], []];
  for (const file of record?.files ?? []) {
    const result = restoreFile(file);
    if (!result.ok) return result;
    if (result.value === "restored") restored.push(file.path);
    if (result.value === "cleaned") cleaned.push(file.path);
  }
  if (record !== null) dropRecord(client, system);
  const leftovers = isClean ? removeLeftovers(client, system) : succeed([]);
  if (!leftovers.ok) return leftovers;
  return succeed({ restored, cleaned: [...cleaned, ...leftovers.value] });
}

function restoreFile(file: FileRecord): CliResult<"restored" | "cleaned" | "untouched"> {
  const now = textAt(file.path);
  if (now instanceof Error) return stop(exitCodes.failed, `${file.path} cannot be read (${now.message}).`);
  if (now === null) return succeed("untouched");
  if (hashOf(now) === file.afterHash) {
    if (now === file.before) return succeed("untouched");
    return writeText(file.path, file.before, "restored");
  }
  const ours = file.values.filter(({ path, value }) => valueAt(file, now, path) === value);
  if (ours.length === 0) return succeed("untouched");
  const values = ours.map(({ path, before }) => ({ path, value: before }));
  const text = editText(file, now, values);
  if ("problem" in text) return stop(exitCodes.failed, `${file.path} was not changed: ${text.problem}.`);
  return writeText(file.path, text.text, "cleaned");
}

/** Removes loopback addresses that no record mentions, for example after a crash. */
function removeLeftovers(client: ClientName, system: SystemInfo): CliResult<readonly string[]> {
  const changed: string[] = [];
  for (const plan of clientFilePlans(client, "http://127.0.0.1", system)) {
    const now = textAt(plan.path);
    if (now === null || now instanceof Error) continue;
    const left = plan.values.filter(({ path }) => isLoopbackUrl(valueAt(plan, now, path) ?? ""));
    if (left.length === 0) continue;
    const text = editText(
      plan,
      now,
      left.map(({ path }) => ({ path, value: null })),
    );
    if ("problem" in text) return stop(exitCodes.failed, `${plan.path} was not changed: ${text.problem}.`);
    const result = writeText(plan.path, text.text, "cleaned");
    if (!result.ok) return result;
    changed.push(plan.path);
  }
  return succeed(changed);
}

function writeText<T>(path: string, text: string | null, what: T): CliResult<T> {
  try {
    replaceFile(path, text);
    return succeed(what);
  } catch (error) {
    return stop(exitCodes.failed, error instanceof Error ? error.message : String(error));
  }
}
