import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { configPathOf, fileKeyOf, readSettings } from "../config/index.ts";
import type { Call } from "./call.ts";
import { configTextAt, environmentWith } from "./load-settings.ts";
import { type Outcome, stop, succeed } from "./outcome.ts";
import { exitCodes } from "./usage.ts";

/** Null takes the setting out. */
export type ConfigChange = { readonly name: string; readonly value: string | null };

/**
 * Writes one setting into the config file, or nothing at all if it could not be used then. Answers with where
 * that is. What else stands in the file stays.
 */
export function changeConfig(call: Pick<Call, "world" | "flags">, change: ConfigChange): Outcome<string> {
  const env = environmentWith(call.world.env, call.flags);
  const path = configPathOf(env, call.world.home);
  if (path === null) return stop(exitCodes.usage, "APERTURE_CONFIG must be an absolute path.");
  const text = configTextAt(path);
  if (text instanceof Error) return stop(exitCodes.failed, `${path} cannot be read: ${text.message}.`);
  const fields = fieldsIn(text ?? "{}");
  if (fields === null) return stop(exitCodes.failed, `${path} is not a JSON object; correct it first.`);
  const written = `${JSON.stringify(changed(fields, change), null, 2)}\n`;
  const problem = problemOf(written, { home: call.world.home, before: text });
  if (problem !== null) return stop(exitCodes.usage, problem);
  try {
    replace(path, written);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "unknown error";
    return stop(exitCodes.failed, `${path} cannot be written (${code}).`);
  }
  return succeed(path);
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsIn(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Fields) : null; // just looked at
  } catch {
    return null;
  }
}

function changed(fields: Fields, { name, value }: ConfigChange): Fields {
  const key = fileKeyOf(name);
  if (value !== null) return { ...fields, [key]: value };
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== key));
}

/** Judged by the file alone, so that what stands in this shell neither hides a mistake nor looks like one. */
function problemOf(
  text: string,
  { home, before }: { readonly home: string; readonly before: string | null },
): string | null {
  const read = readSettings({}, home, text);
  if (read.ok) return null;
  const old = readSettings({}, home, before);
  const known = old.ok ? [] : old.problems;
  return read.problems.find((problem) => !known.includes(problem)) ?? null;
}

/** It may hold a token: it is for its user alone, and never half written. */
function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}
