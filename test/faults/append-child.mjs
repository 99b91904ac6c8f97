// A process that records as fast as it can until it is killed. It prints the seq of each durable frame, one
// per line, written straight to the pipe so that no line is lost with the process. Its argument is a JSON
// object: path, session, scenario ("append" or "all"), and an optional failPoint.
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { hashContent, sessionId, unwrap } from "../../dist/base/index.js";
import { openSession } from "../../dist/log/index.js";
import { openSqliteStore } from "../../dist/store/index.js";

const options = JSON.parse(process.argv[2] ?? "{}");
const session = sessionId(options.session);
const store = openSqliteStore({
  path: options.path,
  ...(options.failPoint ? { failPoint: options.failPoint } : {}),
});
const clock = { now: () => Date.now() };
const log = unwrap(await openSession({ store, session, clock }));
const inFlightMax = 20;
let inFlight = 0;
if (log.state().seq === 0) append([opened()]);
const rounds = options.scenario === "all" ? 600 : Number.POSITIVE_INFINITY;
for (let round = 0; round < rounds; round += 1) {
  append([runStarted()]);
  if (options.scenario === "all" && round % 100 === 50) await maintain(round);
  while (inFlight >= inFlightMax) await new Promise((resume) => setImmediate(resume));
}
await store.flush();
await store.close();

/** Every append has a content and a body made of it. */
function append(deltas) {
  const seq = log.state().seq + 1;
  const bytes = Buffer.from(`content of frame ${seq} `.repeat(40));
  const content = { hash: hashContent(bytes), bytes };
  const recipe = [{ from: "content", content: content.hash, start: 0, length: bytes.length }];
  const row = { session, exchange: seq, side: "client-request", hash: content.hash, length: bytes.length };
  const recorded = unwrap(log.append(entryOf(deltas), { contents: [content], bodies: [{ ...row, recipe }] }));
  inFlight += 1;
  void recorded.durable.then((result) => {
    inFlight -= 1;
    if (result.ok) writeSync(1, `${seq}\n`);
  });
}

function entryOf(deltas) {
  return { stream: null, actor: "client", cause: { type: "session", step: null, reason: "" }, deltas };
}

function opened() {
  return { type: "stream-opened", stream: 1, name: "main", parent: null };
}

function runStarted() {
  const run = log.state().streams.get(1).runs.size;
  return { type: "run-started", stream: 1, from: run, to: run + 1 };
}

/**
 * Does what a user may do during recording: purges a content that others are stored as differences to,
 * collects a large unreferenced one, makes a backup and deletes a session.
 */
async function maintain(round) {
  const base = "a file that is read again and again\n".repeat(30 + round);
  const contents = [base, `${base}with one more line\n`, randomBytes(400_000)].map((text) => {
    const bytes = Buffer.from(text);
    return { hash: hashContent(bytes), bytes };
  });
  for (const content of contents) unwrap(await store.append({ contents: [content] }).durable);
  unwrap(await store.purge([contents[0].hash]));
  unwrap(await store.gc());
  unwrap(await store.backup(`${options.path}.${round}.backup`));
  await deleteAnother(round);
}

/** Deletes a session that shares a content with ours; ours must keep it. */
async function deleteAnother(round) {
  const other = sessionId(`another-${round}`);
  const opening = unwrap(await openSession({ store, session: other, clock }));
  const bytes = Buffer.from(`content of frame ${log.state().seq} `.repeat(40));
  const contents = [{ hash: hashContent(bytes), bytes }];
  unwrap(await unwrap(opening.append(entryOf([opened()]), { contents })).durable);
  unwrap(await store.drop(other));
}
