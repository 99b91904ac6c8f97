import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unwrap } from "../base/index.ts";
import { verbs } from "../commands/index.ts";
import { lastingPermissions, noPermissions, openPermissionFile } from "./permission-store.ts";

let folder: string;
let path: string;
const clock = { now: () => 1_700_000_000_000 };
const archive = { actor: "model", verb: "archive", zone: "middle" } as const;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-permissions-"));
  path = join(folder, "data", "permissions.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("lasting permissions", () => {
  it("are empty at first, and are read back from the file", () => {
    const permissions = openPermissionFile(path, clock);
    expect(permissions.list()).toEqual({ ok: true, value: [] });
    unwrap(permissions.set({ key: archive, rule: "allow" }));
    const row = { ...archive, rule: "allow", since: clock.now() };
    expect(unwrap(openPermissionFile(path, clock).list())).toEqual([row]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("are replaced per verb and zone, and can be removed", () => {
    const permissions = openPermissionFile(path, clock);
    unwrap(permissions.set({ key: archive, rule: "allow" }));
    unwrap(permissions.set({ key: { ...archive, zone: "cold" }, rule: "ask" }));
    expect(unwrap(permissions.set({ key: archive, rule: "deny" })).map(({ rule }) => rule)).toEqual([
      "ask",
      "deny",
    ]);
    unwrap(permissions.set({ key: { ...archive, zone: "cold" }, rule: null }));
    unwrap(permissions.set({ key: archive, rule: null }));
    expect(unwrap(permissions.list())).toEqual([]);
  });

  it.each([
    "",
    "nonsense",
    "[]",
    "{}",
    '{"permissions":[{"verb":"archive"}]}',
    JSON.stringify({ permissions: [{ ...archive, zone: "moon", rule: "allow", since: 1 }] }),
    JSON.stringify({ permissions: [{ ...archive, rule: "allow", since: 1, more: 1 }] }),
    JSON.stringify({ permissions: [{ ...archive, rule: "allow", since: 1 }], more: 1 }),
  ])("make everything ask if the file is invalid, which is left unchanged: %s", (text) => {
    const permissions = openPermissionFile(path, clock);
    unwrap(permissions.set({ key: archive, rule: "deny" }));
    writeFileSync(path, text);
    expect(permissions.list()).toMatchObject({ ok: false, error: { code: "AP_PERMISSIONS_FILE" } });
    expect(permissions.set({ key: archive, rule: "allow" }).ok).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(text);
    const forModel = lastingPermissions(permissions).filter(({ actor }) => actor === "model");
    expect(forModel).toEqual([{ actor: "model", verb: "all", zone: "all", answer: "ask", lasts: "always" }]);
  });

  it("are refused where they cannot be stored", () => {
    writeFileSync(join(folder, "file"), "");
    const nowhere = openPermissionFile(join(folder, "file", "permissions.json"), clock);
    expect(nowhere.set({ key: archive, rule: "allow" })).toMatchObject({ ok: false });
    expect(noPermissions.set({ key: archive, rule: "allow" })).toMatchObject({ ok: false });
    expect(noPermissions.list()).toEqual({ ok: true, value: [] });
  });

  it("are given to commands as lasting", () => {
    const permissions = openPermissionFile(path, clock);
    for (const verb of verbs.slice(0, 2)) unwrap(permissions.set({ key: { ...archive, verb }, rule: "ask" }));
    expect(lastingPermissions(permissions)).toEqual(
      verbs.slice(0, 2).map((verb) => ({ ...archive, verb, answer: "ask", lasts: "always" })),
    );
  });
});
