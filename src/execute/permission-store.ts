import { readFileSync } from "node:fs";
import { type Clock, fail, limits, ok, type Result } from "../base/index.ts";
import { type CommandPermission, verbs, zones } from "../commands/index.ts";
import { actors, permissionRules } from "../engine/frames/index.ts";
import { errorCodeOf, writeFileAtomically } from "../log/index.ts";
import type { PermissionRow } from "./act-answers.ts";

export type PermissionChange = {
  readonly key: Pick<PermissionRow, "actor" | "verb" | "zone">;
  /** Null removes the permission. */
  readonly rule: PermissionRow["rule"] | null;
};

/** The user's lasting permissions. They belong to no session, so they are in no log. */
export type PermissionStore = {
  readonly list: () => Result<readonly PermissionRow[]>;
  readonly set: (change: PermissionChange) => Result<readonly PermissionRow[]>;
};

/**
 * Keeps permissions in a file that its owner can read and edit. The file is read at every use: commands are
 * rare, and manual changes count at once.
 */
export function openPermissionFile(path: string, clock: Clock): PermissionStore {
  const list = (): Result<readonly PermissionRow[]> => readPermissions(path);
  const set = ({ key, rule }: PermissionChange): Result<readonly PermissionRow[]> => {
    const present = list();
    if (!present.ok) return present;
    const others = present.value.filter((row) => permissionKey(row) !== permissionKey(key));
    const rows = rule === null ? others : [...others, { ...key, rule, since: clock.now() }];
    const problem =
      rows.length > limits.permissionsMax
        ? "it would hold too many"
        : writeFileAtomically(path, fileText(rows));
    return problem === null ? ok(rows) : unusable(problem);
  };
  return { list, set };
}

/** For hosts without a permission file. */
export const noPermissions: PermissionStore = {
  list: () => ok([]),
  set: () => unusable("there is no place for it"),
};

/**
 * The permissions that commands are judged by. If the file cannot be read, everything needs approval, because
 * one of its rules may deny.
 */
export function lastingPermissions(store: PermissionStore): readonly CommandPermission[] {
  const rows = store.list();
  if (rows.ok)
    return rows.value.map(({ rule, since: _, ...key }) => ({ ...key, answer: rule, lasts: "always" }));
  return actors.map((actor) => ({ actor, verb: "all", zone: "all", answer: "ask", lasts: "always" }));
}

function permissionKey({ actor, verb, zone }: PermissionChange["key"]): string {
  return `${actor} ${verb} ${zone}`;
}

function unusable(problem: string): Result<never> {
  return fail("AP_PERMISSIONS_FILE", { problem });
}

function readPermissions(path: string): Result<readonly PermissionRow[]> {
  const text = readText(path);
  if (!text.ok || text.value === null) return text.ok ? ok([]) : text;
  try {
    const { permissions, ...more } = JSON.parse(text.value) as { readonly permissions?: unknown };
    const isList = Array.isArray(permissions) && permissions.length <= limits.permissionsMax;
    if (isList && Object.keys(more).length === 0 && permissions.every(isPermissionRow))
      return ok(permissions);
  } catch {
    // The parser's message is dropped, because it would quote the file.
  }
  return unusable("it does not hold a list of permissions; mend it or delete it");
}

/** Null if there is no file. */
function readText(path: string): Result<string | null> {
  try {
    return ok(readFileSync(path, "utf8"));
  } catch (error) {
    return errorCodeOf(error) === "ENOENT" ? ok(null) : unusable(`it cannot be read (${errorCodeOf(error)})`);
  }
}

function isPermissionRow(value: unknown): value is PermissionRow {
  if (typeof value !== "object" || value === null) return false;
  const { actor, verb, zone, rule, since, ...more } = value as { readonly [field: string]: unknown };
  const among = (words: readonly string[], word: unknown): boolean => words.some((each) => each === word);
  const isKey = among(actors, actor) && among([...verbs, "all"], verb) && among([...zones, "all"], zone);
  const isRule = among(permissionRules, rule) && Number.isSafeInteger(since);
  return isKey && isRule && Object.keys(more).length === 0;
}

function fileText(permissions: readonly PermissionRow[]): string {
  return `${JSON.stringify({ permissions }, null, 2)}\n`;
}
