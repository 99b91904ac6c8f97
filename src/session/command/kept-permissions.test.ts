import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unwrap } from "../../base/index.ts";
import { verbs } from "../../commands/index.ts";
import { keepPermissions, noPermissions, permissionsOfAlways } from "./kept-permissions.ts";

let folder: string;
let path: string;
const clock = { now: () => 1_700_000_000_000 };
const archive = { actor: "model", verb: "archive", zone: "middle" } as const;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-permissions-"));
  path = join(folder, "data", "permissions.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("what holds always", () => {
  it("is nothing at first, and whoever opens the file later finds what was said", () => {
    const kept = keepPermissions(path, clock);
    expect(kept.list()).toEqual({ ok: true, value: [] });
    unwrap(kept.set({ key: archive, rule: "allow" }));
    const row = { ...archive, rule: "allow", since: clock.now() };
    expect(unwrap(keepPermissions(path, clock).list())).toEqual([row]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is said anew about the same, beside what was said about another zone, and taken back", () => {
    const kept = keepPermissions(path, clock);
    unwrap(kept.set({ key: archive, rule: "allow" }));
    unwrap(kept.set({ key: { ...archive, zone: "cold" }, rule: "ask" }));
    expect(unwrap(kept.set({ key: archive, rule: "deny" })).map(({ rule }) => rule)).toEqual(["ask", "deny"]);
    unwrap(kept.set({ key: { ...archive, zone: "cold" }, rule: null }));
    unwrap(kept.set({ key: archive, rule: null }));
    expect(unwrap(kept.list())).toEqual([]);
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
  ])("makes everything ask where it cannot be read, and is left as it is: %s", (text) => {
    const kept = keepPermissions(path, clock);
    unwrap(kept.set({ key: archive, rule: "deny" }));
    writeFileSync(path, text);
    expect(kept.list()).toMatchObject({ ok: false, error: { code: "AP_PERMISSIONS_FILE" } });
    expect(kept.set({ key: archive, rule: "allow" }).ok).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(text);
    const forModel = permissionsOfAlways(kept).filter(({ actor }) => actor === "model");
    expect(forModel).toEqual([{ actor: "model", verb: "all", zone: "all", answer: "ask", lasts: "always" }]);
  });

  it("is bounded, and refused where it cannot be kept", () => {
    writeFileSync(join(folder, "file"), "");
    const nowhere = keepPermissions(join(folder, "file", "permissions.json"), clock);
    expect(nowhere.set({ key: archive, rule: "allow" })).toMatchObject({ ok: false });
    expect(noPermissions.set({ key: archive, rule: "allow" })).toMatchObject({ ok: false });
    expect(noPermissions.list()).toEqual({ ok: true, value: [] });
  });

  it("judges commands as the user's word for always", () => {
    const kept = keepPermissions(path, clock);
    for (const verb of verbs.slice(0, 2)) unwrap(kept.set({ key: { ...archive, verb }, rule: "ask" }));
    expect(permissionsOfAlways(kept)).toEqual(
      verbs.slice(0, 2).map((verb) => ({ ...archive, verb, answer: "ask", lasts: "always" })),
    );
  });
});
