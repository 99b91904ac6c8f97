import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canonicalJson, contentHash, hashContent, sessionId, unwrap } from "../../src/base/index.ts";
import { emptyState, replayFrames } from "../../src/engine/index.ts";
import { now } from "../../src/engine/moment/index.ts";
import { openSession } from "../../src/log/index.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { latestFormat, migrations } from "../../src/store/migrations.ts";
import { describeMoment } from "../support/describe-moment.ts";
import { type ExpectedFixture, writeFixture } from "./fixture.ts";

const home = "test/compat";
const clock = { now: () => 0 };
const storeFormat = latestFormat(migrations);

// `APERTURE_WRITE_FIXTURE=1 npx vitest run test/compat` makes the fixture of a new format, once.
const newest = join(home, `format-${storeFormat}`);
if (process.env["APERTURE_WRITE_FIXTURE"] === "1" && !existsSync(newest))
  await writeFixture(newest, storeFormat);

const fixtures = readdirSync(home).filter((name) => name.startsWith("format-"));

describe("databases of every released format", () => {
  it("are kept for ever, the present one included", () => {
    const formats = fixtures.map((name) => Number(name.replace("format-", ""))).sort((a, b) => a - b);
    expect(formats).toEqual(Array.from({ length: storeFormat }, (_, index) => index + 1));
  });

  it.each(fixtures)("%s opens, is intact, and has the expected content", async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-compat-"));
    const path = join(folder, "aperture.db");
    copyFileSync(join(home, name, "aperture.db"), path);
    const store = openSqliteStore({ path });
    const expected = JSON.parse(readFileSync(join(home, name, "expected.json"), "utf8")) as ExpectedFixture;
    await expectSame(store, expected);
    expect(store.status().storage).toBe("ok");
    await store.close();
    rmSync(folder, { recursive: true });
  });
});

async function expectSame(store: Store, expected: ExpectedFixture): Promise<void> {
  expect(unwrap(await store.verify("all")).damage).toEqual([]);
  expect(unwrap(await store.sessions())).toEqual(expected.sessions);
  for (const { session, seq } of expected.sessions) await expectOneState(store, session, seq);
  for (const { session, exchange, hash } of expected.bodies) {
    const key = { session: sessionId(session), exchange, side: "client-request" } as const;
    expect(hashContent(unwrap(await store.body(key)))).toBe(hash);
  }
  const purged = await store.content(contentHash(expected.purged));
  expect(purged).toMatchObject({ ok: false, error: { code: "AP_CONTENT_PURGED" } });
}

/** Expects that the stored snapshot plus later frames gives the same state as all frames. */
async function expectOneState(store: Store, name: string, seq: number): Promise<void> {
  const session = sessionId(name);
  const opened = unwrap(await openSession({ store, session, clock })).state();
  const frames = unwrap(await store.frames({ session, after: 0, limit: seq }));
  const whole = unwrap(replayFrames(emptyState(session), frames));
  expect(unwrap(await store.snapshot(session))?.seq).toBeGreaterThan(0);
  expect(opened.seq).toBe(seq);
  expect(canonicalJson(describeMoment(now(opened)))).toBe(canonicalJson(describeMoment(now(whole))));
}
