import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok, type SteppedClock, steppedClock } from "../../src/base/index.ts";
import { replayStrictly } from "../../src/cli/replay/strict-model.ts";
import { type Control, createControl, readPanel } from "../../src/control/index.ts";
import {
  answerQuestion,
  type EngineEvent,
  frameEvent,
  type Library,
  openSession,
  type SessionLog,
} from "../../src/session/index.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { actOn, recorderOn, reverseOn } from "../support/acting.ts";
import { WatchedSession } from "../support/watched-session.ts";

export const token = "the-token-of-these-tests";

export type Reply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body parsed, for those who know that it is JSON. */
  readonly json: () => Readonly<Record<string, unknown>>;
};
export type Wish = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The control API on a real socket, over a real database. */
export type Served = {
  readonly port: number;
  readonly clock: SteppedClock;
  readonly control: Control;
  readonly store: () => Store;
  readonly session: (name: string) => Promise<WatchedSession>;
  readonly tell: (event: EngineEvent) => void;
  /** Asks as it is told, with no credentials of its own. */
  readonly call: (path: string, wish?: Wish) => Promise<Reply>;
  /** Asks with the token. */
  readonly get: (path: string) => Promise<Reply>;
  /** Closes the database and opens it again, as a restart would. */
  readonly reopen: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function serve({ panelDir }: { readonly panelDir?: string } = {}): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "aperture-control-"));
  const open = () => openSqliteStore({ path: join(folder, "aperture.db") });
  const clock = steppedClock(1_700_000_000_000);
  const listeners = new Set<(event: EngineEvent) => void>();
  const live = new Map<string, SessionLog>();
  let store = open();
  let library = libraryOf(store, live, clock);
  const tell = (event: EngineEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const control = createControl({
    ask: (question) => answerQuestion(library, question),
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    token,
    // What is written is not looked at here.
    exported: ({ session, format }) => Promise.resolve(ok(Buffer.from(`${session} as ${format}`))),
    replayed: replayStrictly,
    upstreams: { anthropic: "https://models.example/" },
    mode: "auto",
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
  const call: Served["call"] = (path, wish) => send(port, path, wish);
  return {
    port,
    clock,
    control,
    store: () => store,
    session: async (name) => {
      const watched = await WatchedSession.open(store, name, clock);
      watched.onFrame = (frame) => tell(frameEvent(frame));
      live.set(name, watched.log);
      return watched;
    },
    tell,
    call,
    get: (path) => call(path, { headers: { authorization: `Bearer ${token}` } }),
    reopen: async () => {
      await store.close();
      live.clear();
      store = open();
      library = libraryOf(store, live, clock);
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

function libraryOf(store: Store, live: Map<string, SessionLog>, clock: SteppedClock): Library {
  const recorder = recorderOn(store, clock);
  return {
    store,
    open: (session) => {
      const log = live.get(session);
      return log === undefined ? openSession({ store, session, clock }) : Promise.resolve(ok(log));
    },
    windowOf: () => 200_000,
    ledger: () => Promise.resolve(ok(null)),
    command: () => Promise.resolve(ok([])),
    within: async (session, work) => {
      await store.flush();
      const done = await recorder.within(session, work);
      const log = await recorder.shelf.log(session);
      // From here on the recorder's log is the one that goes on.
      if (log.ok) live.set(session, log.value);
      await store.flush();
      return done;
    },
    act: async (session, stream, propose) => {
      const log = live.get(session);
      const opened = log === undefined ? await openSession({ store, session, clock }) : ok(log);
      return opened.ok ? await actOn(opened.value, stream, propose) : opened;
    },
    reverse: async (session, verb, step) => {
      const log = live.get(session);
      const opened = log === undefined ? await openSession({ store, session, clock }) : ok(log);
      return opened.ok ? await reverseOn(opened.value, verb, step) : opened;
    },
  };
}

function send(port: number, path: string, { method = "GET", headers = {}, body }: Wish = {}): Promise<Reply> {
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
  // What never ends by itself is looked at by its head only.
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
