import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { limits, ok } from "../base/index.ts";
import type { Ask, EngineEvent, FrameEvent } from "../session/index.ts";
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

/** A response that takes nothing while it is told to be full. */
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
const settle = () => new Promise((resume) => setTimeout(resume, 15));

/** A log of which so many frames are on disk. */
function scene({ stored = 0, heartbeatMs = pace.heartbeatMs } = {}) {
  const disk = { stored };
  const ask = ((question: { readonly after: number; readonly limit: number }) => {
    const seqs = Array.from({ length: disk.stored }, (_, index) => index + 1);
    const frames = seqs
      .filter((seq) => seq > question.after)
      .slice(0, question.limit)
      .map((seq) => ({ ...frame(seq), deltas: [] }));
    return Promise.resolve(ok({ session: "s1", seq: disk.stored, frames, next: null }));
  }) as unknown as Ask;
  const response = new FakeResponse();
  const viewer = new Viewer(ask, response as unknown as ServerResponse, { ...pace, heartbeatMs });
  return { disk, response, viewer };
}

const all = { session: null, only: false, after: null };
const followed = { session: "s1", only: true, after: 0 };

describe("a viewer", () => {
  it("gets what it has missed from the log and goes on live, each frame once", async () => {
    const { response, viewer } = scene({ stored: 3 });
    for (const seq of [2, 3]) viewer.push(frame(seq));
    void viewer.run(followed, 3);
    await settle();
    viewer.push(frame(3));
    viewer.push(frame(4));
    await settle();
    expect(response.events).toEqual(["frame 1", "frame 2", "frame 3", "frame 4"]);
  });

  it("waits for a frame that is announced but not on disk yet", async () => {
    const { disk, response, viewer } = scene({ stored: 1 });
    void viewer.run(followed, 2);
    viewer.push(frame(3));
    disk.stored = 2;
    await settle();
    expect(response.events).toEqual(["frame 1", "frame 2", "frame 3"]);
  });

  it("is told to read anew if such a frame never comes", async () => {
    const { response, viewer } = scene({ stored: 1 });
    void viewer.run(followed, 1);
    viewer.push(frame(3));
    await new Promise((resume) => setTimeout(resume, 50));
    expect(response.events).toEqual(["frame 1", "resync 2", "frame 3"]);
  });

  it("that knows more than there is, because a crash took it back, is told to read anew", async () => {
    const { response, viewer } = scene({ stored: 2 });
    void viewer.run({ ...followed, after: 9 }, 2);
    viewer.push(frame(3));
    await settle();
    expect(response.events).toEqual(["resync 2", "frame 3"]);
  });

  it("of one session hears nothing of others, but everything that concerns all", async () => {
    const { response, viewer } = scene();
    void viewer.run({ ...followed, after: null }, 0);
    viewer.push(frame(1, "s2"));
    viewer.push({ type: "request", session: "s2", exchange: 1, phase: "opened" });
    viewer.push({ type: "notice", session: null, code: null, message: "for all" });
    viewer.push({ type: "degraded", storage: "ok", message: null });
    viewer.push({ type: "request", session: "s1", exchange: 1, phase: "opened" });
    await settle();
    expect(response.events.map((event) => event.split(" ", 1)[0])).toEqual(["notice", "degraded", "request"]);
  });

  it("that watches everything and comes back is told that other sessions may have moved", async () => {
    const { response, viewer } = scene({ stored: 2 });
    void viewer.run({ session: "s1", only: false, after: 1 }, 2);
    viewer.push(frame(7, "s2"));
    await settle();
    expect(response.events).toEqual(["resync 1", "frame 2", "frame 7"]);
  });
});

describe("a viewer that does not read", () => {
  it("costs a bounded queue, and is told to read anew when it reads again", async () => {
    const { response, viewer } = scene();
    void viewer.run({ ...followed, after: null }, 0);
    await settle();
    response.isFull = true;
    for (let seq = 1; seq <= 5_000; seq += 1) {
      viewer.push(frame(seq));
      expect(viewer.waiting).toBeLessThanOrEqual(limits.viewerEventsMax);
      if (seq === 1) await settle();
    }
    expect(response.events).toEqual(["frame 1"]);
    response.drain();
    await settle();
    viewer.push(frame(5_001));
    await settle();
    expect(response.events).toEqual(["frame 1", "resync 5000", "frame 5001"]);
  });

  it("is cut off after some heartbeats, and keeps nothing then", async () => {
    const { response, viewer } = scene({ heartbeatMs: 2 });
    const run = viewer.run(all, 0);
    await settle();
    expect(response.written.filter((text) => text === ": beat\n\n").length).toBeGreaterThan(0);
    response.isFull = true;
    viewer.push(frame(1));
    await run;
    expect(response.isDestroyed).toBe(true);
    viewer.push(frame(2));
    expect(viewer.waiting).toBe(0);
  });

  it("and leaves before it is served is not written to", async () => {
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
  await settle();
  const text = response.written.at(-1) ?? "";
  expect(text.split("\n")).toHaveLength(4);
  expect(JSON.parse(text.split("\n")[1]?.replace("data: ", "") ?? "")).toEqual(event);
});
