import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type StrictUpstream,
  type StrictUpstreamOptions,
  startStrictUpstream,
} from "../../src/testing/index.ts";
import { freePort } from "../start/processes.ts";

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  readonly bytes: Buffer;
};
export type Started = {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<Ended>;
  readonly saw: (pattern: RegExp) => Promise<void>;
};
export type Environment = Readonly<Record<string, string>>;

/** A separate machine: a home, a data directory, a port, and a local upstream. */
export type Rig = {
  readonly folder: string;
  readonly home: string;
  readonly dataDir: string;
  readonly port: number;
  readonly url: string;
  readonly env: Environment;
  readonly upstream: StrictUpstream;
  readonly start: (args: readonly string[], env?: Environment) => Started;
  readonly run: (args: readonly string[], env?: Environment) => Promise<Ended>;
  /** Starts `aperture up` and waits until it is ready. */
  readonly up: () => Promise<Started>;
  readonly close: () => Promise<void>;
};

const program = join(process.cwd(), "dist", "cli", "main.cjs");
const waitMs = 30_000;

export async function openRig(options: StrictUpstreamOptions = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), "aperture-verbs-"));
  const home = join(folder, "home");
  const dataDir = join(folder, "data");
  mkdirSync(home);
  const upstream = await startStrictUpstream(options);
  const port = await freePort();
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    APERTURE_PORT: `${port}`,
    APERTURE_DATA_DIR: dataDir,
    APERTURE_UPSTREAM_ANTHROPIC: upstream.url,
  };
  const running = new Set<ChildProcess>();
  const start: Rig["start"] = (args, more = {}) => {
    const started = startProgram([process.execPath, program, ...args], {
      env: { ...env, ...more },
      cwd: folder,
    });
    running.add(started.child);
    void started.ended.then(() => running.delete(started.child));
    return started;
  };
  return {
    folder,
    home,
    dataDir,
    port,
    url: `http://127.0.0.1:${port}`,
    env,
    upstream,
    start,
    run: (args, more) => start(args, more).ended,
    up: async () => {
      const started = start(["up"]);
      await started.saw(/listening on/);
      return started;
    },
    close: async () => {
      for (const child of running) child.kill("SIGKILL");
      await upstream.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function startProgram(
  command: readonly string[],
  { env, cwd }: { readonly env: Environment; readonly cwd: string },
): Started {
  const [file = "", ...args] = command;
  const child = spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString("utf8");
  const ended = new Promise<Ended>((done) => {
    child.once("close", (code, signal) => {
      done({ code, signal, out: text(out), err: text(err), bytes: Buffer.concat(out) });
    });
  });
  const saw = async (pattern: RegExp): Promise<void> => {
    const until = Date.now() + waitMs;
    while (!pattern.test(text(out) + text(err))) {
      if (Date.now() > until) throw new Error(`never saw ${pattern} in:\n${text(out)}${text(err)}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  return { child, out: () => text(out), err: () => text(err), ended, saw };
}

export type Sent = { readonly status: number; readonly body: Buffer; readonly sent: Buffer };

/** Posts an exact body, as a client does. */
export function post(rig: Rig, body: string, headers: Environment = {}): Promise<Sent> {
  const sent = Buffer.from(body, "utf8");
  const all = { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" };
  return send(
    { port: rig.port, path: "/v1/messages", method: "POST", headers: { ...all, ...headers } },
    sent,
  );
}

/** The API's answer, for comparisons. */
export async function api(rig: Rig, path: string): Promise<unknown> {
  const token = readFileSync(join(rig.dataDir, "token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await send({ port: rig.port, path, method: "GET", headers }, Buffer.alloc(0));
  return JSON.parse(body.toString("utf8"));
}

type RequestOptions = {
  readonly port: number;
  readonly path: string;
  readonly method: string;
  readonly headers: Environment;
};

function send(options: RequestOptions, sent: Buffer): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), sent }),
      );
    });
    outgoing.once("error", reject);
    outgoing.end(sent);
  });
}

type Message = { readonly role: string; readonly content: unknown };

/** Plays a conversation, one turn per line, until it is recorded. Returns the requests and responses. */
export async function converse(rig: Rig, name: string, lines: readonly string[]): Promise<readonly Sent[]> {
  const sent = await converseUnrecorded(rig, name, lines);
  await waitUntilRecorded(rig, name, lines.length);
  return sent;
}

/** Plays a conversation without waiting for its recording. */
export async function converseUnrecorded(
  rig: Rig,
  name: string,
  lines: readonly string[],
): Promise<readonly Sent[]> {
  const messages: Message[] = [];
  const sent: Sent[] = [];
  for (const line of lines) {
    messages.push({ role: "user", content: line });
    const body = JSON.stringify({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      system: "Be kind.",
      messages,
    });
    const answer = await post(rig, body, { "x-aperture-session": name });
    sent.push(answer);
    const { content } = JSON.parse(answer.body.toString("utf8")) as { content: unknown };
    messages.push({ role: "assistant", content });
  }
  return sent;
}

/** Answers are recorded shortly after they were sent, and later on a busy machine. */
async function waitUntilRecorded(rig: Rig, name: string, requests: number): Promise<void> {
  const until = Date.now() + waitMs;
  const path = `/api/v1/sessions/${encodeURIComponent(`name:${name}`)}`;
  for (;;) {
    const { session } = (await api(rig, path)) as { session?: { requests: number; state: string } };
    if ((session?.requests ?? 0) >= requests && session?.state !== "active") return;
    if (Date.now() > until) throw new Error(`the session ${name} was never recorded`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
