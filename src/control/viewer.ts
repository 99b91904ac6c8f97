import type { ServerResponse } from "node:http";
import { limits } from "../base/index.ts";
import type { Asker } from "../host/index.ts";
import { type EngineEvent, type FrameEvent, frameEvent } from "../log/index.ts";
import { securityHeaders } from "./respond.ts";

/** The events a viewer wants to see. */
export type Subscription = {
  /** The session whose frames come without a gap; null if none in particular. */
  readonly session: string | null;
  /** Whether events of other sessions are left out. */
  readonly isExclusive: boolean;
  /** The last seq the viewer has; null starts with the next event. */
  readonly after: number | null;
};

export type ViewerPace = {
  readonly heartbeatMs: number;
  /** The pause between reads of an announced frame that is not on disk yet. */
  readonly fillPauseMs: number;
  readonly fillTries: number;
};

const framesPerRead = 200;
/** A viewer that reads nothing for so many heartbeats is cut off, even if its socket is open. */
const stuckHeartbeatsMax = 4;

/**
 * One connection of server-sent events. Events enter a bounded queue at once, and a loop of its own writes
 * them as fast as the viewer reads. Missing frames are read from the log, so that a viewer that comes back
 * sees each frame once, in order.
 */
export class Viewer {
  readonly #ask: Asker;
  readonly #response: ServerResponse;
  readonly #pace: ViewerPace;
  #subscription: Subscription = { session: null, isExclusive: false, after: null };
  #queue: EngineEvent[] = [];
  /** The seq of the last frame that was written, or that a resync covers. */
  #seq: number | null = null;
  #isOverrun = false;
  #overrunSeq: number | null = null;
  #isClosed = false;
  #wake: () => void = () => undefined;
  #stuckHeartbeats = 0;

  constructor(ask: Asker, response: ServerResponse, pace: ViewerPace) {
    this.#ask = ask;
    this.#response = response;
    this.#pace = pace;
    response.on("close", () => this.close());
    response.on("drain", () => this.#wake());
    // A connection that breaks during a write has simply ended.
    response.on("error", () => this.close());
  }

  get waiting(): number {
    return this.#queue.length;
  }

  push(event: EngineEvent): void {
    if (this.#isClosed || !this.#isRelevant(event)) return;
    if (this.#queue.length >= limits.viewerEventsMax) {
      this.#isOverrun = true;
      for (const waiting of this.#queue) this.#noteOverrun(waiting);
      this.#queue = [];
    }
    if (this.#isOverrun) this.#noteOverrun(event);
    else this.#queue.push(event);
    this.#wake();
  }

  #noteOverrun(event: EngineEvent): void {
    if (this.#isFollowed(event)) this.#overrunSeq = event.seq;
  }

  /** Tells the viewer that Aperture is shutting down, then closes. */
  end(): void {
    if (this.#response.headersSent && !this.#isClosed) {
      const event: ViewerEvent = { type: "ended" };
      this.#response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#response.end();
    this.#wake();
  }

  /** Runs until the viewer leaves. `head` is the present seq of its session. */
  async run(subscription: Subscription, head: number): Promise<void> {
    this.#subscription = subscription;
    if (this.#isClosed) return;
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      ...securityHeaders,
    });
    this.#response.write(": aperture\nretry: 2000\n\n");
    const heartbeat = setInterval(() => this.#sendHeartbeat(), this.#pace.heartbeatMs);
    heartbeat.unref();
    await this.#catchUp(head);
    while (!this.#isClosed) await this.#handleNext();
    clearInterval(heartbeat);
  }

  async #catchUp(head: number): Promise<void> {
    const { session, isExclusive: only, after } = this.#subscription;
    if (session === null) return;
    this.#seq = after ?? head;
    // It has seen frames that a crash lost, or it watches other sessions whose seq is not known.
    if (after !== null && (after > head || !only)) await this.#resync(Math.min(after, head));
    await this.#writeMissing(head);
  }

  async #handleNext(): Promise<void> {
    if (this.#isOverrun) {
      this.#isOverrun = false;
      await this.#resync(Math.max(this.#seq ?? 0, this.#overrunSeq ?? 0));
      return;
    }
    const event = this.#queue.shift();
    if (event === undefined) await this.#waitForWake();
    else if (this.#isFollowed(event)) await this.#deliver(event);
    else await this.#write(event);
  }

  #isFollowed(event: EngineEvent): event is FrameEvent {
    return event.type === "frame" && event.session === this.#subscription.session;
  }

  #isRelevant(event: EngineEvent): boolean {
    if (!this.#subscription.isExclusive || event.type === "degraded") return true;
    return event.session === null || event.session === this.#subscription.session;
  }

  async #deliver(event: FrameEvent): Promise<void> {
    const isWhole = await this.#writeMissing(event.seq - 1);
    if (this.#seq !== null && event.seq <= this.#seq) return;
    if (!isWhole) await this.#resync(event.seq - 1);
    await this.#write(event);
    this.#seq = event.seq;
  }

  /** Writes frames up to a seq from the log. A live session runs ahead of its disk, so this may wait. */
  async #writeMissing(until: number): Promise<boolean> {
    const { session } = this.#subscription;
    for (let tries = 0; this.#seq !== null && this.#seq < until && !this.#isClosed; ) {
      if (session === null || tries > this.#pace.fillTries) return false;
      const page = await this.#ask({ type: "frames", session, after: this.#seq, limit: framesPerRead });
      if (!page.ok) return false;
      for (const frame of page.value.frames) {
        await this.#write(frameEvent(frame));
        this.#seq = frame.seq;
      }
      tries = page.value.frames.length === 0 ? tries + 1 : 0;
      if (tries > 0) await new Promise((resume) => setTimeout(resume, this.#pace.fillPauseMs));
    }
    return true;
  }

  async #resync(seq: number): Promise<void> {
    const { session } = this.#subscription;
    if (session !== null) this.#seq = seq;
    await this.#write({ type: "resync", session, seq: session === null ? null : seq });
  }

  async #write(event: ViewerEvent): Promise<void> {
    if (this.#isClosed) return;
    const id = event.type === "frame" ? `id: ${event.session}:${event.seq}\n` : "";
    this.#response.write(`${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    while (this.#response.writableNeedDrain && !this.#isClosed) await this.#waitForWake();
  }

  #waitForWake(): Promise<void> {
    return new Promise((resume) => {
      this.#wake = resume;
    });
  }

  #sendHeartbeat(): void {
    this.#stuckHeartbeats = this.#response.writableNeedDrain ? this.#stuckHeartbeats + 1 : 0;
    if (this.#stuckHeartbeats > stuckHeartbeatsMax) this.#response.destroy();
    else if (this.#stuckHeartbeats === 0) this.#response.write(": beat\n\n");
  }
}

/** Sent when events were left out: the viewer must read everything again. */
type ResyncEvent = {
  readonly type: "resync";
  readonly session: string | null;
  readonly seq: number | null;
};
/** Sent last, when Aperture shuts down. */
type EndedEvent = { readonly type: "ended" };
export type ViewerEvent = EngineEvent | ResyncEvent | EndedEvent;
