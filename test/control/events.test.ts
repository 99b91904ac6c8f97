import { get, type IncomingMessage } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../src/base/index.ts";
import type { ObservedSession } from "../support/observed-session.ts";
import { numRuns } from "../support/runs.ts";
import { serve, type TestControl, token } from "./serve.ts";

let served: TestControl;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

type SeenEvent = {
  readonly id: string | null;
  readonly event: string;
  readonly data: Record<string, unknown>;
};

/** A viewer that keeps the events it saw and can be cut off at any moment. */
class TestViewer {
  readonly seen: SeenEvent[] = [];
  text = "";
  readonly #response: IncomingMessage;
  #rest = "";
  #notify: () => void = () => undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding("utf8").on("data", (chunk: string) => this.#take(chunk));
    response.on("error", () => undefined);
  }

  static open(query: string, lastId: string | null = null): Promise<TestViewer> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastId === null ? {} : { "last-event-id": lastId }),
    };
    const path = `/api/v1/events${query}`;
    return new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port: served.port, path, headers, agent: false }, (response) => {
        expect(response.headers).toMatchObject({
          "content-type": "text/event-stream; charset=utf-8",
          "x-accel-buffering": "no",
        });
        resolve(new TestViewer(response));
      }).on("error", reject);
    });
  }

  #take(chunk: string): void {
    this.text += chunk;
    const parts = (this.#rest + chunk).split("\n\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1] ?? null;
      const [id, event, data] = [field("id"), field("event"), field("data")];
      if (event !== null) this.seen.push({ id, event, data: JSON.parse(data ?? "{}") });
    }
    this.#notify();
  }

  async until(isDone: (seen: readonly SeenEvent[]) => boolean): Promise<void> {
    while (!isDone(this.seen)) {
      await new Promise<void>((resume, reject) => {
        const timer = setTimeout(() => reject(new Error(`only ${JSON.stringify(this.seen)}`)), 5_000);
        this.#notify = () => {
          clearTimeout(timer);
          resume();
        };
      });
    }
  }

  cut(): void {
    this.#response.destroy();
  }
}

/** The server notices a cut connection a moment after the viewer has cut it. */
async function allGone(): Promise<void> {
  for (let n = 0; n < 500 && served.control.viewers() > 0; n += 1) {
    await new Promise((resume) => setTimeout(resume, 10));
  }
  expect(served.control.viewers()).toBe(0);
}

const ticks = async (session: ObservedSession, count: number) => {
  for (let n = 0; n < count; n += 1) await session.tick();
};

describe("events", () => {
  it("begin with a comment line at once, and report frames, requests, notices and storage", async () => {
    const session = await served.session("kinds");
    const watching = await TestViewer.open("");
    await session.tick();
    served.publish({ type: "request", session: "kinds", exchange: 1, phase: "opened" });
    served.publish({ type: "notice", session: null, code: null, message: "said" });
    served.publish({ type: "degraded", storage: "degraded", message: "full" });
    await watching.until((seen) => seen.length === 4);
    expect(watching.text).toMatch(/^: /);
    expect(watching.seen.map(({ event, id }) => [event, id])).toEqual([
      ["frame", "kinds:2"],
      ["request", null],
      ["notice", null],
      ["degraded", null],
    ]);
    expect(watching.seen[0]?.data).toEqual({
      type: "frame",
      session: "kinds",
      seq: 2,
      actor: "client",
      cause: { type: "request", step: null, reason: "" },
      time: served.clock.now(),
      deltaTypes: ["run-started"],
    });
    watching.cut();
  });

  it("of one session can start at any seq, also under the name `last`", async () => {
    served.clock.advance(1_000);
    const session = await served.session("past");
    await ticks(session, 3);
    const watching = await TestViewer.open("?session=last&after=2");
    await watching.until((seen) => seen.length === 2);
    expect(watching.seen.map(({ id }) => id)).toEqual(["past:3", "past:4"]);
    watching.cut();
  });

  it("a viewer that left is dropped", async () => {
    await allGone();
    const watching = await TestViewer.open("");
    expect(served.control.viewers()).toBe(1);
    watching.cut();
    await allGone();
  });

  it("have a bounded number of viewers", async () => {
    await allGone();
    const watching = await Promise.all(Array.from({ length: limits.viewersMax }, () => TestViewer.open("")));
    const reply = await served.get("/api/v1/events");
    expect([reply.status, reply.json()]).toMatchObject([503, { error: { code: "AP_VIEWERS_FULL" } }]);
    for (const one of watching) one.cut();
    await allGone();
  });
});

describe("a viewer that comes back", () => {
  const cuts = fc.array(fc.record({ seen: fc.nat(6), away: fc.nat(4) }), { minLength: 1, maxLength: 4 });
  let sessions = 0;

  it("sees every frame exactly once and in order, wherever it was cut off", async () => {
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (plan, byHeader) => {
        sessions += 1;
        const name = `resumed-${sessions}`;
        const session = await served.session(name);
        let seq = 0;
        const seqs: number[] = [];
        for (const { seen, away } of plan) {
          const query = `?session=${name}&after=${byHeader ? 0 : seq}`;
          const watching = await TestViewer.open(query, byHeader ? `${name}:${seq}` : null);
          // Not awaited: frames come while the past is still being read.
          const writing = ticks(session, seen + 1);
          await watching.until((all) => all.length >= seen);
          watching.cut();
          seqs.push(...watching.seen.map(({ data }) => Number(data["seq"])));
          seq = seqs.at(-1) ?? 0;
          await writing;
          await ticks(session, away);
        }
        const head = session.log.state().seq;
        const last = await TestViewer.open(`?session=${name}&after=${seq}`);
        await last.until((all) => all.length >= head - seq);
        last.cut();
        seqs.push(...last.seen.map(({ data }) => Number(data["seq"])));
        expect(seqs).toEqual(Array.from({ length: head }, (_, index) => index + 1));
      }),
      numRuns(12),
    );
  });

  it("continues at its seq after the database was opened again", async () => {
    const session = await served.session("reopened");
    await ticks(session, 3);
    await served.reopen();
    const watching = await TestViewer.open("", "reopened:2");
    await watching.until((seen) => seen.length === 3);
    // Its seq in other sessions is not known, so it gets a resync.
    expect(watching.seen.map(({ event, data }) => [event, data["seq"]])).toEqual([
      ["resync", 2],
      ["frame", 3],
      ["frame", 4],
    ]);
    watching.cut();
  });
});
