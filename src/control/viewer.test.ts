import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { limits, ok } from "../base/index.ts";
import type { Asker } from "../host/index.ts";
import type { EngineEvent, FrameEvent } from "../log/index.ts";
import { Viewer } from "./viewer.ts";

const frame = (seq: number, session = "s1"): FrameEvent => ({
  type: "frame",
  session,
  seq,
  actor: "client",
  cause: { type: "request", step: null, reason: "" },
  time: 1,
  deltaTypes: [],
});

/** A response that accepts nothing while it is full. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  isFull = false;
  isDestroyed = false;
  get writableNeedDrain(): boolean {
    return this.isFull;
  }
  writeHead(): void {
    this.written.push("head");
  }
  write(text: string): boolean {
    this.written.push(text);
    return !this.isFull;
  }
  end(): void {
    this.written.push("end");
  }
  destroy(): void {
    this.isDestroyed = true;
    this.emit("close");
  }
  drain(): void {
    this.isFull = false;
    this.emit("drain");
  }
  get events(): readonly string[] {
    return this.written.flatMap((text) => {
      const [, type, data] = /event: (\w+)\ndata: (.*)\n/.exec(text) ?? [];
      return type === undefined ? [] : [`${type} ${(JSON.parse(data ?? "{}") as { seq?: number }).seq}`];
    });
  }
}

const pace = { heartbeatMs: 10_000, fillPauseMs: 1, fillTries: 3 };
const pause = () => new Promise((resume) => setTimeout(resume, 15));

/** A viewer of a log whose first `stored` frames are on disk. */
function scene({ stored = 0, heartbeatMs = pace.heartbeatMs } = {}) {
  const disk = { stored };
  const ask = ((query: { readonly after: number; readonly limit: number }) => {
    const seqs = Array.from({ length: disk.stored }, (_, index) => index + 1);
    const frames = seqs
      .filter((seq) => seq > query.after)
      .slice(0, query.limit)
      .map((seq) => ({ ...frame(seq), deltas: [] }));
    return Promise.resolve(ok({ session: "s1", seq: disk.stored, frames, next: null }));
  }) as unknown as Asker;
  const response = new FakeResponse();
  const viewer = new Viewer(ask, response as unknown as ServerResponse, { ...pace, heartbeatMs });
  return { disk, response, viewer };
}

const all = { session: null, isExclusive: false, after: null };
const followed = { session: "s1", isExclusive: true, after: 0 };

describe("a viewer", () => {
  it("gets missed frames from the log, then live ones, each once", async () => {
    const { response, viewer } = scene({ stored: 3 });
    for (const seq of [2, 3]) viewer.push(frame(seq));
    void viewer.run(followed, 3);
    await pause();
    viewer.push(frame(3));
    viewer.push(frame(4));
    await pause();
    expect(response.events).toEqual(["frame 1", "frame 2", "frame 3", "frame 4"]);
  });

  it("waits for an announced frame that is not on disk yet", async () => {
    const { disk, response, viewer } = scene({ stored: 1 });
    void viewer.run(followed, 2);
    viewer.push(frame(3));
    disk.stored = 2;
    await pause();
    expect(response.events).toEqual(["frame 1", "frame 2", "frame 3"]);
  });

  it("gets a resync if such a frame never comes", async () => {
    const { response, viewer } = scene({ stored: 1 });
    void viewer.run(followed, 1);
    viewer.push(frame(3));
    await new Promise((resume) => setTimeout(resume, 50));
    expect(response.events).toEqual(["frame 1", "resync 2", "frame 3"]);
  });

  it("gets a resync if it has seen frames that a crash lost", async () => {
    const { response, viewer } = scene({ stored: 2 });
    void viewer.run({ ...followed, after: 9 }, 2);
    viewer.push(frame(3));
    await pause();
    expect(response.events).toEqual(["resync 2", "frame 3"]);
  });

  it("of one session gets no events of others, but all global ones", async () => {
    const { response, viewer } = scene();
    void viewer.run({ ...followed, after: null }, 0);
    viewer.push(frame(1, "s2"));
    viewer.push({ type: "request", session: "s2", exchange: 1, phase: "opened" });
    viewer.push({ type: "notice", session: null, code: null, message: "for all" });
    viewer.push({ type: "degraded", storage: "ok", message: null });
    viewer.push({ type: "request", session: "s1", exchange: 1, phase: "opened" });
    await pause();
    expect(response.events.map((event) => event.split(" ", 1)[0])).toEqual(["notice", "degraded", "request"]);
  });

  it("of all sessions gets a resync when it comes back, since others may have moved", async () => {
    const { response, viewer } = scene({ stored: 2 });
    void viewer.run({ session: "s1", isExclusive: false, after: 1 }, 2);
    viewer.push(frame(7, "s2"));
    await pause();
    expect(response.events).toEqual(["resync 1", "frame 2", "frame 7"]);
  });
});

describe("a viewer that does not read", () => {
  it("has a bounded queue, and gets a resync when it reads again", async () => {
    const { response, viewer } = scene();
    void viewer.run({ ...followed, after: null }, 0);
    await pause();
    response.isFull = true;
    for (let seq = 1; seq <= 5_000; seq += 1) {
      viewer.push(frame(seq));
      expect(viewer.waiting).toBeLessThanOrEqual(limits.viewerEventsMax);
      if (seq === 1) await pause();
    }
    expect(response.events).toEqual(["frame 1"]);
    response.drain();
    await pause();
    viewer.push(frame(5_001));
    await pause();
    expect(response.events).toEqual(["frame 1", "resync 5000", "frame 5001"]);
  });

  it("is cut off after some heartbeats, and its queue is dropped", async () => {
    const { response, viewer } = scene({ heartbeatMs: 2 });
    const run = viewer.run(all, 0);
    await pause();
    expect(response.written.filter((text) => text === ": beat\n\n").length).toBeGreaterThan(0);
    response.isFull = true;
    viewer.push(frame(1));
    await run;
    expect(response.isDestroyed).toBe(true);
    viewer.push(frame(2));
    expect(viewer.waiting).toBe(0);
  });

  it("is not written to if it leaves before it is served", async () => {
    const { response, viewer } = scene();
    response.emit("close");
    await viewer.run(all, 0);
    expect(response.written).toEqual(["end"]);
  });
});

it("events are one line of data each, whatever is in them", async () => {
  const { response, viewer } = scene();
  void viewer.run(all, 0);
  const message = "two\nlines\r\n\ndata: forged\u2028";
  const event: EngineEvent = { type: "notice", session: null, code: null, message };
  viewer.push(event);
  await pause();
  const text = response.written.at(-1) ?? "";
  expect(text.split("\n")).toHaveLength(4);
  expect(JSON.parse(text.split("\n")[1]?.replace("data: ", "") ?? "")).toEqual(event);
});
