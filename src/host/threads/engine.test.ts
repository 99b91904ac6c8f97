import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Pieces, RequestCopy, SentRequest } from "../../exchange/index.ts";
import { type Engine, startEngine } from "./engine.ts";
import type { EngineOptions } from "./messages.ts";

let folder = "";
let engine: Engine;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-engine-"));
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

/** Waits until the engine has answered once. */
async function start(options: Partial<EngineOptions> = {}): Promise<void> {
  engine = startEngine({ path: join(folder, "aperture.db"), windows: [], ...options });
  await engine.ask({ type: "sessions", limit: 1 });
}

function copyOf(id: string, content: string, sent: SentRequest | null = null): RequestCopy<Pieces> {
  const messages = [{ role: "user", content }];
  const text = JSON.stringify({ model: "claude-opus-4-8", max_tokens: 9, messages });
  const body = new Uint8Array(Buffer.from(text));
  return {
    id,
    protocol: "anthropic",
    upstream: "anthropic",
    method: "POST",
    target: "/v1/messages",
    headers: { "x-claude-code-session-id": "s" },
    caller: { owner: "local", credential: "c", secrets: [] },
    startedMs: 0,
    body: [body],
    length: body.length,
    sent,
  };
}

const sentPlain: SentRequest = {
  rendering: "plain",
  streamKey: "l",
  generatedName: null,
  wishesSeq: 0,
  leaf: "",
  fresh: [],
  aliases: [],
  isTurn: false,
  body: [],
  length: 0,
  epoch: null,
};

/** Resolves when the thread reports one more recorded request. */
async function record(copy: RequestCopy<Pieces>): Promise<void> {
  const before = engine.status().counts.requests;
  engine.recordRequest(copy, null);
  while (engine.status().counts.requests === before) {
    expect(engine.status().replaced).toBe(0);
    await new Promise((resume) => setTimeout(resume, 1));
  }
}

describe("the engine's thread", () => {
  it("does not count as stuck while it works on a long queue", { timeout: 60_000 }, async () => {
    await start();
    await record(copyOf("first", "say hello"));
    const text = "a file that was read, with much in it\n".repeat(8_000);
    // A burst: the thread's timers do not run before the last of these is recorded.
    for (let n = 0; n < 190; n += 1) engine.recordRequest(copyOf(`r-${n}`, `${n} ${text}`), null);
    while (engine.status().waitingBytes > 0) await new Promise((resume) => setTimeout(resume, 2));
    expect(engine.status()).toMatchObject({ replaced: 0, counts: { requests: 191, gaps: 0 } });
  });

  it("gets managed requests at once, and others in batches", async () => {
    await start();
    const posted = vi.spyOn(Worker.prototype, "postMessage");
    const batches = () => posted.mock.calls.map(([message]) => message.copies?.length ?? 0);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    engine.recordRequest(copyOf("a", "observed"), null);
    expect(batches()).toEqual([]);
    engine.recordRequest(copyOf("b", "managed", sentPlain), null);
    expect(batches()).toEqual([2]);
    engine.recordRequest(copyOf("c", "observed"), null);
    engine.recordRequest(copyOf("d", "observed"), null);
    expect(batches()).toEqual([2]);
    vi.advanceTimersByTime(100);
    expect(batches()).toEqual([2, 2]);
    vi.useRealTimers();
    posted.mockRestore();
  });

  it("records a body in shared memory without moving it", async () => {
    await start();
    const { body, ...rest } = copyOf("shared", "say hello");
    const [text = new Uint8Array()] = body ?? [];
    const bytes = Buffer.from(new SharedArrayBuffer(text.length + 40_000)).fill(" ");
    bytes.set(text);
    await record({ ...rest, body: [bytes], length: bytes.length });
    expect(engine.status().counts).toMatchObject({ requests: 1, unread: 0, gaps: 0 });
    expect(bytes.subarray(0, text.length).toString()).toContain("say hello");
  });
});
