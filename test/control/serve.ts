import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "../../src/base/index.ts";
import { replayStrictly } from "../../src/cli/replay/strict-model.ts";
import { type Control, createControl, readPanel } from "../../src/control/index.ts";
import type { ActDeps } from "../../src/execute/acts.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import { type EngineEvent, frameEvent, openSession, type SessionLog } from "../../src/log/index.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { actOn, recorderOn, reverseOn } from "../support/act-on-log.ts";
import { ObservedSession } from "../support/observed-session.ts";
import { type SteppedClock, steppedClock } from "../support/stepped-clock.ts";

export const token = "the-token-of-these-tests";

export type Reply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** Parses the body as JSON. */
  readonly json: () => Readonly<Record<string, unknown>>;
};
export type CallOptions = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The control API on a real socket and a real database. */
export type TestControl = {
  readonly port: number;
  readonly clock: SteppedClock;
  readonly control: Control;
  readonly store: () => Store;
  readonly session: (name: string) => Promise<ObservedSession>;
  readonly publish: (event: EngineEvent) => void;
  /** Calls without credentials of its own. */
  readonly call: (path: string, options?: CallOptions) => Promise<Reply>;
  /** Calls with the token. */
  readonly get: (path: string) => Promise<Reply>;
  /** Reopens the database, as a restart would. */
  readonly reopen: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function serve({ panelDir }: { readonly panelDir?: string } = {}): Promise<TestControl> {
  const folder = mkdtempSync(join(tmpdir(), "aperture-control-"));
  const open = () => openSqliteStore({ path: join(folder, "aperture.db") });
  const clock = steppedClock(1_700_000_000_000);
  const listeners = new Set<(event: EngineEvent) => void>();
  const live = new Map<string, SessionLog>();
  let managesLogins = false;
  let store = open();
  let deps = actDepsOf(store, live, clock);
  const publish = (event: EngineEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const control = createControl({
    ask: (question) => answerQuestion(deps, question),
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    token,
    // The exported bytes are not checked in these tests.
    exportSession: ({ session, format }) => Promise.resolve(ok(Buffer.from(`${session} as ${format}`))),
    replay: replayStrictly,
    upstreams: { anthropic: "https://models.example/" },
    mode: "auto",
    consent: {
      isGiven: () => managesLogins,
      set: (isGiven) => {
        managesLogins = isGiven;
      },
    },
    health: () => ({ storage: "ok", message: null, recording: { on: true, missed: 0, since: null } }),
    metrics: () => ({ 'requests_total{outcome="complete"}': 2 }),
    version: "1.2.3",
    clock,
    panel: panelDir === undefined ? null : readPanel(panelDir),
    events: { fillPauseMs: 2 },
  });
  const server = createServer(control.handle);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const call: TestControl["call"] = (path, options) => send(port, path, options);
  return {
    port,
    clock,
    control,
    store: () => store,
    session: async (name) => {
      const watched = await ObservedSession.open(store, name, clock);
      watched.onFrame = (frame) => publish(frameEvent(frame));
      live.set(name, watched.log);
      return watched;
    },
    publish: publish,
    call,
    get: (path) => call(path, { headers: { authorization: `Bearer ${token}` } }),
    reopen: async () => {
      await store.close();
      live.clear();
      store = open();
      deps = actDepsOf(store, live, clock);
    },
    close: async () => {
      control.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function actDepsOf(store: Store, live: Map<string, SessionLog>, clock: SteppedClock): ActDeps {
  const recorder = recorderOn(store, clock);
  return {
    store,
    openLog: (session) => {
      const log = live.get(session);
      return log === undefined ? openSession({ store, session, clock }) : Promise.resolve(ok(log));
    },
    windowOf: () => 200_000,
    streamRecord: () => Promise.resolve(ok(null)),
    executeCalls: () => Promise.resolve(ok([])),
    inSession: async (session, work) => {
      await store.flush();
      const done = await recorder.inSession(session, work);
      const log = await recorder.cache.log(session);
      // From here on the recorder's log is the live one.
      if (log.ok) live.set(session, log.value);
      await store.flush();
      return done;
    },
    act: async (session, stream, propose) => {
      const log = live.get(session);
      const opened = log === undefined ? await openSession({ store, session, clock }) : ok(log);
      return opened.ok ? await actOn(opened.value, stream, propose) : opened;
    },
    reverseStep: async (session, verb, step) => {
      const log = live.get(session);
      const opened = log === undefined ? await openSession({ store, session, clock }) : ok(log);
      return opened.ok ? await reverseOn(opened.value, verb, step) : opened;
    },
  };
}

function send(
  port: number,
  path: string,
  { method = "GET", headers = {}, body }: CallOptions = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      resolve(replyOf(response));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function replyOf(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  // An event stream never ends, so only its head is read.
  if (response.headers["content-type"]?.startsWith("text/event-stream") && !isHead(response))
    response.destroy();
  else for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString("utf8");
  const json = () => JSON.parse(text) as Readonly<Record<string, unknown>>;
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, text, json };
}

function isHead(response: IncomingMessage): boolean {
  return (
    (response as IncomingMessage & { readonly req?: { readonly method?: string } }).req?.method === "HEAD"
  );
}
