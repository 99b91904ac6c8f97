import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { configPathOf, fileKeyOf, readSettings } from "../config/index.ts";
import { exitCodes } from "./exit-codes.ts";
import { environmentWith, readConfigText } from "./load-settings.ts";
import { type CliResult, errorCode, stop, succeed } from "./outcome.ts";
import type { VerbCall } from "./verb-call.ts";

/** A value of null removes the setting. */
export type ConfigChange = { readonly name: string; readonly value: string | null };

/**
 * Writes one setting to the config file and returns the file's path. Other settings stay. If the file would
 * become invalid, nothing is written.
 */
export function changeConfig(
  call: Pick<VerbCall, "system" | "flags">,
  change: ConfigChange,
): CliResult<string> {
  const env = environmentWith(call.system.env, call.flags);
  const path = configPathOf(env, call.system.home);
  if (path === null) return stop(exitCodes.usage, "APERTURE_CONFIG must be an absolute path.");
  const text = readConfigText(path);
  if (text instanceof Error) return stop(exitCodes.failed, `${path} cannot be read: ${text.message}.`);
  const fields = parseFields(text ?? "{}");
  if (fields === null) return stop(exitCodes.failed, `${path} is not a JSON object. Correct it first.`);
  const written = `${JSON.stringify(withChange(fields, change), null, 2)}\n`;
  const problem = newProblem(written, { home: call.system.home, before: text });
  if (problem !== null) return stop(exitCodes.usage, problem);
  try {
    replaceConfigFile(path, written);
  } catch (error) {
    return stop(exitCodes.failed, `${path} cannot be written (${errorCode(error)}).`);
  }
  return succeed(path);
}

type ConfigFields = Readonly<Record<string, unknown>>;

function parseFields(text: string): ConfigFields | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as ConfigFields) : null; // checked in the line above
  } catch {
    return null;
  }
}

function withChange(fields: ConfigFields, { name, value }: ConfigChange): ConfigFields {
  const key = fileKeyOf(name);
  if (value !== null) return { ...fields, [key]: value };
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== key));
}

/** Checks the file alone: variables of this shell must neither hide a mistake nor cause one. */
function newProblem(
  text: string,
  { home, before }: { readonly home: string; readonly before: string | null },
): string | null {
  const read = readSettings({}, home, text);
  if (read.ok) return null;
  const old = readSettings({}, home, before);
  const known = old.ok ? [] : old.problems;
  return read.problems.find((problem) => !known.includes(problem)) ?? null;
}

/** Only its user may read the file, because it may hold a token. It is never half written. */
function replaceConfigFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}
