import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { hashContent, type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { State } from "../../src/engine/index.ts";
import { openSession } from "../../src/log/index.ts";
import { diffRecipe, openSqliteStore, type Store } from "../../src/store/index.ts";
import { entryFor, intent, opening } from "../support/random-session.ts";

/** The expected data of a fixture: only things no later version may read differently. */
export type ExpectedFixture = {
  readonly format: number;
  readonly sessions: readonly { readonly session: string; readonly seq: number; readonly hash: string }[];
  readonly bodies: readonly { readonly session: string; readonly exchange: number; readonly hash: string }[];
  readonly purged: string;
};

/** Writes a database with everything the format can hold. */
export async function writeFixture(folder: string, format: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const store = openSqliteStore({ path: join(folder, "aperture.db") });
  const ids = [1, 2].map((seed) => sessionId(`fixture-${seed}`));
  for (const [index, session] of ids.entries()) await writeSession(store, session, index + 1);
  const bodies = await writeBodies(store, ids[0] as SessionId);
  const secret = hashContent(secretText);
  unwrap(await appendAndWait(store, { contents: [{ hash: secret, bytes: Buffer.from(secretText) }] }));
  unwrap(await store.purge([secret]));
  const sessions = unwrap(await store.sessions()).map(({ session, seq, hash }) => ({ session, seq, hash }));
  await store.close();
  const expected: ExpectedFixture = { format, sessions, bodies, purged: secret };
  writeFileSync(join(folder, "expected.json"), `${JSON.stringify(expected, null, 2)}\n`);
}

const secretText = "something the user wanted gone";

/** Writes a session long enough to have a snapshot and later frames. */
async function writeSession(store: Store, session: SessionId, seed: number): Promise<void> {
  const log = unwrap(await openSession({ store, session, clock: { now: () => 1_700_000_000_000 } }));
  const frames: Frame[] = [];
  const acts = fc.sample(intent, { seed, numRuns: 600 });
  for (const next of [opening, ...acts.map((one) => (state: State) => entryFor(state, one, frames))]) {
    const entry = next(log.state());
    if (entry === null) continue;
    const { frame, durable } = unwrap(log.append(entry));
    frames.push(frame);
    unwrap(await durable);
  }
}

/** Bodies that copy from each other, contents that grow, and bytes that are no text. */
async function writeBodies(store: Store, session: SessionId): Promise<ExpectedFixture["bodies"]> {
  const rows: ExpectedFixture["bodies"][number][] = [];
  let previous: Buffer | null = null;
  let grown = "a line of a file that is read again\n".repeat(20);
  for (let exchange = 1; exchange <= 12; exchange += 1) {
    grown += `line ${exchange}\n`;
    const content = Buffer.from(grown);
    const bytes: Buffer = Buffer.concat([
      Buffer.from(`{"n":${exchange},"text":"`),
      content,
      Buffer.from([0xff, 0x00, 0x22]),
    ]);
    const slices = [{ start: bytes.indexOf(content), length: content.length, content: hashContent(content) }];
    const before =
      previous === null ? null : { exchange: exchange - 1, side: "client-request" as const, bytes: previous };
    const recipe = diffRecipe({ previous: before, next: bytes, slices });
    const row = {
      session,
      exchange,
      side: "client-request",
      hash: hashContent(bytes),
      length: bytes.length,
    } as const;
    const contents = [{ hash: hashContent(content), bytes: content }];
    unwrap(await appendAndWait(store, { contents, bodies: [{ ...row, recipe }] }));
    rows.push({ session, exchange, hash: row.hash });
    previous = bytes;
  }
  return rows;
}

function appendAndWait(store: Store, batch: Parameters<Store["append"]>[0]) {
  const appended = store.append(batch);
  return appended.accepted ? appended.durable : Promise.resolve(appended.refused);
}
