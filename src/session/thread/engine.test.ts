import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pieces, RequestCopy, SentReport } from "../exchange.ts";
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

/** Started, and known to be: it has answered once. */
async function start(options: Partial<EngineOptions> = {}): Promise<void> {
  engine = startEngine({ path: join(folder, "aperture.db"), windows: [], ...options });
  await engine.ask({ type: "sessions", limit: 1 });
}

function copyOf(id: string, content: string, sent: SentReport | null = null): RequestCopy<Pieces> {
  const talk = [{ role: "user", content }];
  const text = JSON.stringify({ model: "claude-opus-4-8", max_tokens: 9, messages: talk });
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

const report: SentReport = {
  rendering: "plain",
  line: "l",
  talkName: null,
  briefed: 0,
  leaf: "",
  fresh: [],
  copies: [],
  isTurn: false,
  body: [],
  length: 0,
  epoch: null,
};

/** Milliseconds until the thread says that it has dealt with one request more. */
async function takesMs(copy: RequestCopy<Pieces>): Promise<number> {
  const before = engine.status().counts.requests;
  const began = performance.now();
  engine.requested(copy, null);
  while (engine.status().counts.requests === before) {
    expect(engine.status().replaced).toBe(0);
    await new Promise((resume) => setTimeout(resume, 1));
  }
  return performance.now() - began;
}

describe("the engine's thread", () => {
  it("is not taken for stuck while it works on a long queue", { timeout: 60_000 }, async () => {
    await start({ stuckMs: 400 });
    await takesMs(copyOf("first", "say hello"));
    const text = "a file that was read, with much in it\n".repeat(8_000);
    const began = performance.now();
    // All at once, as after a burst: the thread's timers get no turn before the last of them is done.
    for (let n = 0; n < 190; n += 1) engine.requested(copyOf(`r-${n}`, `${n} ${text}`), null);
    while (engine.status().waitingBytes > 0) await new Promise((resume) => setTimeout(resume, 2));
    expect(performance.now() - began, "long enough to tell").toBeGreaterThan(500);
    expect(engine.status()).toMatchObject({ replaced: 0, counts: { requests: 191, gaps: 0 } });
  });

  it("is told at once of what was sent in place of a request, and of others together", async () => {
    await start();
    const [apart, together]: number[][] = [[], []];
    for (let n = 0; n < 10; n += 1) {
      apart?.push(await takesMs(copyOf(`m-${n}`, `talk ${n}`, report)));
      together?.push(await takesMs(copyOf(`w-${n}`, `talk ${n}`)));
    }
    // Gathering takes 100 ms at least, on any machine; at once is quicker, unless it is busy each time.
    expect(Math.min(...(together ?? []))).toBeGreaterThanOrEqual(99);
    expect(Math.min(...(apart ?? []))).toBeLessThan(99);
  });

  it("takes a body in shared memory without taking it away", async () => {
    await start();
    const { body, ...rest } = copyOf("shared", "say hello");
    const [text = new Uint8Array()] = body ?? [];
    const bytes = Buffer.from(new SharedArrayBuffer(text.length + 40_000)).fill(" ");
    bytes.set(text);
    await takesMs({ ...rest, body: [bytes], length: bytes.length });
    expect(engine.status().counts).toMatchObject({ requests: 1, unread: 0, gaps: 0 });
    expect(bytes.subarray(0, text.length).toString()).toContain("say hello");
  });
});
