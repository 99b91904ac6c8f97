import type { World } from "../call.ts";
import { isLoopbackUrl } from "../doctor/addresses.ts";
import type { ClientName } from "../launch/wiring.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";
import { replaceFile, textAt } from "./files.ts";
import { edited, valueAt } from "./install.ts";
import { plansFor } from "./plan.ts";
import { dropRecord, type FileRecord, hashOf, readRecord } from "./record.ts";

export type Uninstalled = {
  /** Files that are again, byte for byte, what they were. */
  readonly restored: readonly string[];
  /** Files that somebody has written since: only what is ours was taken out. */
  readonly cleaned: readonly string[];
};

type Wish = {
  readonly client: ClientName;
  readonly world: World;
  /** Also an address of this machine that we did not put there. */
  readonly isClean: boolean;
};

/** Needs neither a running Aperture nor settings that can be used. */
export function uninstall({ client, world, isClean }: Wish): Outcome<Uninstalled> {
  const record = readRecord(client, world);
  const [restored, cleaned]: [string[], string[]] = [[], []];
  for (const file of record?.files ?? []) {
    const done = takeBack(file);
    if (!done.ok) return done;
    if (done.value === "restored") restored.push(file.path);
    if (done.value === "cleaned") cleaned.push(file.path);
  }
  if (record !== null) dropRecord(client, world);
  const swept = isClean ? sweep(client, world) : succeed([]);
  if (!swept.ok) return swept;
  return succeed({ restored, cleaned: [...cleaned, ...swept.value] });
}

function takeBack(file: FileRecord): Outcome<"restored" | "cleaned" | "untouched"> {
  const now = textAt(file.path);
  if (now instanceof Error) return stop(exitCodes.failed, `${file.path} cannot be read (${now.message}).`);
  if (now === null) return succeed("untouched");
  if (hashOf(now) === file.afterHash) {
    if (now === file.before) return succeed("untouched");
    return written(file.path, file.before, "restored");
  }
  const ours = file.values.filter(({ path, value }) => valueAt(file, now, path) === value);
  if (ours.length === 0) return succeed("untouched");
  const values = ours.map(({ path, before }) => ({ path, value: before }));
  const text = edited(file, now, values);
  if ("problem" in text) return stop(exitCodes.failed, `${file.path} was left alone: ${text.problem}.`);
  return written(file.path, text.text, "cleaned");
}

/** Somebody's crash may have left an address behind that no record speaks of. */
function sweep(client: ClientName, world: World): Outcome<readonly string[]> {
  const swept: string[] = [];
  for (const plan of plansFor(client, "http://127.0.0.1", world)) {
    const now = textAt(plan.path);
    if (now === null || now instanceof Error) continue;
    const left = plan.values.filter(({ path }) => isLoopbackUrl(valueAt(plan, now, path) ?? ""));
    if (left.length === 0) continue;
    const text = edited(
      plan,
      now,
      left.map(({ path }) => ({ path, value: null })),
    );
    if ("problem" in text) return stop(exitCodes.failed, `${plan.path} was left alone: ${text.problem}.`);
    const done = written(plan.path, text.text, "cleaned");
    if (!done.ok) return done;
    swept.push(plan.path);
  }
  return succeed(swept);
}

function written<T>(path: string, text: string | null, what: T): Outcome<T> {
  try {
    replaceFile(path, text);
    return succeed(what);
  } catch (error) {
    return stop(exitCodes.failed, error instanceof Error ? error.message : String(error));
  }
}
