import type { ServerResponse } from "node:http";
import { limits } from "../base/index.ts";
import { type Ask, type EngineEvent, type FrameEvent, frameEvent } from "../session/index.ts";
import type { ViewerEvent } from "./contract.ts";
import { securityHeaders } from "./respond.ts";

/** What a viewer wants to see. */
export type Wish = {
  /** The session whose frames come without gap; null: none in particular. */
  readonly session: string | null;
  /** Only that session, or everything. */
  readonly only: boolean;
  /** The seq the viewer has; null: it starts with what happens next. */
  readonly after: number | null;
};

export type Pace = {
  readonly heartbeatMs: number;
  /** How long a frame that was announced may take to reach the disk. */
  readonly fillPauseMs: number;
  readonly fillTries: number;
};

const framesPerRead = 200;
/** A viewer that takes nothing for so many heartbeats is gone, whatever its socket says. */
const stuckBeatsMax = 4;

/**
 * One connection of server-sent events. What happens is put into a bounded queue at once; a loop of its own
 * writes it as fast as the viewer reads. Frames missing between what it has and what happens are read from
 * the log, so that a viewer that comes back sees each frame once, in order.
 */
export class Viewer {
  readonly #ask: Ask;
  readonly #response: ServerResponse;
  readonly #pace: Pace;
  #wish: Wish = { session: null, only: false, after: null };
  #queue: EngineEvent[] = [];
  /** The seq of the last frame written, or told to be read anew. */
  #seq: number | null = null;
  #isOverrun = false;
  #overrunSeq: number | null = null;
  #isClosed = false;
  #wake: () => void = () => undefined;
  #stuckBeats = 0;

  constructor(ask: Ask, response: ServerResponse, pace: Pace) {
    this.#ask = ask;
    this.#response = response;
    this.#pace = pace;
    response.on("close", () => this.close());
    response.on("drain", () => this.#wake());
    // A connection that breaks while it is written to is an ordinary end.
    response.on("error", () => this.close());
  }

  get waiting(): number {
    return this.#queue.length;
  }

  push(event: EngineEvent): void {
    if (this.#isClosed || !this.#concerns(event)) return;
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

  /** Aperture ends, not the viewer: it is told so, and need not wonder. */
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

  /** Until the viewer leaves. `head` is the seq its session has now. */
  async run(wish: Wish, head: number): Promise<void> {
    this.#wish = wish;
    if (this.#isClosed) return;
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      ...securityHeaders,
    });
    this.#response.write(": aperture\nretry: 2000\n\n");
    const heartbeat = setInterval(() => this.#beat(), this.#pace.heartbeatMs);
    heartbeat.unref();
    await this.#begin(head);
    while (!this.#isClosed) await this.#step();
    clearInterval(heartbeat);
  }

  async #begin(head: number): Promise<void> {
    const { session, only, after } = this.#wish;
    if (session === null) return;
    this.#seq = after ?? head;
    // It has seen what a crash took back, or it watches more than the session its place is known in.
    if (after !== null && (after > head || !only)) await this.#resync(Math.min(after, head));
    await this.#fill(head);
  }

  async #step(): Promise<void> {
    if (this.#isOverrun) {
      this.#isOverrun = false;
      await this.#resync(Math.max(this.#seq ?? 0, this.#overrunSeq ?? 0));
      return;
    }
    const event = this.#queue.shift();
    if (event === undefined) await this.#woken();
    else if (this.#isFollowed(event)) await this.#deliver(event);
    else await this.#write(event);
  }

  #isFollowed(event: EngineEvent): event is FrameEvent {
    return event.type === "frame" && event.session === this.#wish.session;
  }

  #concerns(event: EngineEvent): boolean {
    if (!this.#wish.only || event.type === "degraded") return true;
    return event.session === null || event.session === this.#wish.session;
  }

  async #deliver(event: FrameEvent): Promise<void> {
    const isWhole = await this.#fill(event.seq - 1);
    if (this.#seq !== null && event.seq <= this.#seq) return;
    if (!isWhole) await this.#resync(event.seq - 1);
    await this.#write(event);
    this.#seq = event.seq;
  }

  /** Frames up to that seq, from the log. A live session runs ahead of its disk, so it may have to wait. */
  async #fill(until: number): Promise<boolean> {
    const { session } = this.#wish;
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
    const { session } = this.#wish;
    if (session !== null) this.#seq = seq;
    await this.#write({ type: "resync", session, seq: session === null ? null : seq });
  }

  async #write(event: ViewerEvent): Promise<void> {
    if (this.#isClosed) return;
    const id = event.type === "frame" ? `id: ${event.session}:${event.seq}\n` : "";
    this.#response.write(`${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    while (this.#response.writableNeedDrain && !this.#isClosed) await this.#woken();
  }

  #woken(): Promise<void> {
    return new Promise((resume) => {
      this.#wake = resume;
    });
  }

  #beat(): void {
    this.#stuckBeats = this.#response.writableNeedDrain ? this.#stuckBeats + 1 : 0;
    if (this.#stuckBeats > stuckBeatsMax) this.#response.destroy();
    else if (this.#stuckBeats === 0) this.#response.write(": beat\n\n");
  }
}
