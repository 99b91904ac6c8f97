import { readFileSync } from "node:fs";
import { type Clock, fail, limits, ok, type Result } from "../../base/index.ts";
import { type Permission, verbs, zones } from "../../commands/index.ts";
import { actors, permissionRules } from "../../engine/index.ts";
import { codeOf, keepFile } from "../kept-file.ts";
import type { PermissionRow } from "../read/command-rows.ts";

export type PermissionWish = {
  readonly key: Pick<PermissionRow, "actor" | "verb" | "zone">;
  /** Null: nothing is said about it any more. */
  readonly rule: PermissionRow["rule"] | null;
};

/** What the user has said for always. It belongs to no session, so it stands in no log. */
export type KeptPermissions = {
  readonly list: () => Result<readonly PermissionRow[]>;
  readonly set: (wish: PermissionWish) => Result<readonly PermissionRow[]>;
};

/**
 * A file that its owner can read and mend. It is read whenever it is wanted: commands are rare, and what was
 * changed by hand counts at once.
 */
export function keepPermissions(path: string, clock: Clock): KeptPermissions {
  const list = (): Result<readonly PermissionRow[]> => readRows(path);
  const set = ({ key, rule }: PermissionWish): Result<readonly PermissionRow[]> => {
    const found = list();
    if (!found.ok) return found;
    const others = found.value.filter((row) => nameOf(row) !== nameOf(key));
    const rows = rule === null ? others : [...others, { ...key, rule, since: clock.now() }];
    const problem =
      rows.length > limits.permissionsMax ? "it would hold too many" : keepFile(path, textOf(rows));
    return problem === null ? ok(rows) : unusable(problem);
  };
  return { list, set };
}

/** Where nothing can be kept, nothing holds always. */
export const noPermissions: KeptPermissions = {
  list: () => ok([]),
  set: () => unusable("there is no place for it"),
};

/**
 * As commands are judged by them. Where they cannot be read, one of them may have said no: then everything
 * asks.
 */
export function permissionsOfAlways(kept: KeptPermissions): readonly Permission[] {
  const rows = kept.list();
  if (rows.ok)
    return rows.value.map(({ rule, since: _, ...key }) => ({ ...key, answer: rule, lasts: "always" }));
  return actors.map((actor) => ({ actor, verb: "all", zone: "all", answer: "ask", lasts: "always" }));
}

function nameOf({ actor, verb, zone }: PermissionWish["key"]): string {
  return `${actor} ${verb} ${zone}`;
}

function unusable(problem: string): Result<never> {
  return fail("AP_PERMISSIONS_FILE", { problem });
}

function readRows(path: string): Result<readonly PermissionRow[]> {
  const text = textIn(path);
  if (!text.ok || text.value === null) return text.ok ? ok([]) : text;
  try {
    const { permissions, ...more } = JSON.parse(text.value) as { readonly permissions?: unknown };
    const isList = Array.isArray(permissions) && permissions.length <= limits.permissionsMax;
    if (isList && Object.keys(more).length === 0 && permissions.every(isRow)) return ok(permissions);
  } catch {
    // The parser's own words would quote the file.
  }
  return unusable("it does not hold a list of permissions; mend it or delete it");
}

/** Null: there is none. */
function textIn(path: string): Result<string | null> {
  try {
    return ok(readFileSync(path, "utf8"));
  } catch (error) {
    return codeOf(error) === "ENOENT" ? ok(null) : unusable(`it cannot be read (${codeOf(error)})`);
  }
}

function isRow(value: unknown): value is PermissionRow {
  if (typeof value !== "object" || value === null) return false;
  const { actor, verb, zone, rule, since, ...more } = value as { readonly [field: string]: unknown };
  const among = (all: readonly string[], word: unknown): boolean => all.some((each) => each === word);
  const isAbout = among(actors, actor) && among([...verbs, "all"], verb) && among([...zones, "all"], zone);
  const isSaid = among(permissionRules, rule) && Number.isSafeInteger(since);
  return isAbout && isSaid && Object.keys(more).length === 0;
}

function textOf(permissions: readonly PermissionRow[]): string {
  return `${JSON.stringify({ permissions }, null, 2)}\n`;
}
