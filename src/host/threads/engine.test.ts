import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

/** Milliseconds until the thread reports one more recorded request. */
async function recordMs(copy: RequestCopy<Pieces>): Promise<number> {
  const before = engine.status().counts.requests;
  const began = performance.now();
  engine.recordRequest(copy, null);
  while (engine.status().counts.requests === before) {
    expect(engine.status().replaced).toBe(0);
    await new Promise((resume) => setTimeout(resume, 1));
  }
  return performance.now() - began;
}

describe("the engine's thread", () => {
  it("does not count as stuck while it works on a long queue", { timeout: 60_000 }, async () => {
    await start({ stuckMs: 400 });
    await recordMs(copyOf("first", "say hello"));
    const text = "a file that was read, with much in it\n".repeat(8_000);
    const began = performance.now();
    // A burst: the thread's timers do not run before the last of these is recorded.
    for (let n = 0; n < 190; n += 1) engine.recordRequest(copyOf(`r-${n}`, `${n} ${text}`), null);
    while (engine.status().waitingBytes > 0) await new Promise((resume) => setTimeout(resume, 2));
    expect(performance.now() - began, "long enough to tell").toBeGreaterThan(500);
    expect(engine.status()).toMatchObject({ replaced: 0, counts: { requests: 191, gaps: 0 } });
  });

  it("gets managed requests at once, and others in batches", async () => {
    await start();
    const [apart, together]: number[][] = [[], []];
    for (let n = 0; n < 10; n += 1) {
      apart?.push(await recordMs(copyOf(`m-${n}`, `messages ${n}`, sentPlain)));
      together?.push(await recordMs(copyOf(`w-${n}`, `messages ${n}`)));
    }
    // A batch waits at least 100 ms on any machine; sending at once is faster, unless the machine is busy
    // each time.
    expect(Math.min(...(together ?? []))).toBeGreaterThanOrEqual(99);
    expect(Math.min(...(apart ?? []))).toBeLessThan(99);
  });

  it("records a body in shared memory without moving it", async () => {
    await start();
    const { body, ...rest } = copyOf("shared", "say hello");
    const [text = new Uint8Array()] = body ?? [];
    const bytes = Buffer.from(new SharedArrayBuffer(text.length + 40_000)).fill(" ");
    bytes.set(text);
    await recordMs({ ...rest, body: [bytes], length: bytes.length });
    expect(engine.status().counts).toMatchObject({ requests: 1, unread: 0, gaps: 0 });
    expect(bytes.subarray(0, text.length).toString()).toContain("say hello");
  });
});
