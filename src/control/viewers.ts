import type { IncomingMessage, ServerResponse } from "node:http";
import { apertureError, isSessionId, limits } from "../base/index.ts";
import type { Asker } from "../host/index.ts";
import type { EngineEvent } from "../log/index.ts";
import { lastSession } from "../queries/index.ts";
import { type ControlRequest, numberParam } from "./match-route.ts";
import { errorAnswer, type HttpAnswer, securityHeaders } from "./respond.ts";
import { type Subscription, Viewer, type ViewerPace } from "./viewer.ts";

type Watch = (listener: (event: EngineEvent) => void) => () => void;

const defaultPace: ViewerPace = { heartbeatMs: 15_000, fillPauseMs: 50, fillTries: 100 };

/** All open event streams. Their number is bounded, and so is the queue of each. */
export class Viewers {
  readonly #ask: Asker;
  readonly #watch: Watch;
  readonly #pace: ViewerPace;
  readonly #open = new Set<Viewer>();

  constructor(ask: Asker, watch: Watch, pace: Partial<ViewerPace>) {
    this.#ask = ask;
    this.#watch = watch;
    this.#pace = { ...defaultPace, ...pace };
  }

  get size(): number {
    return this.#open.size;
  }

  close(): void {
    for (const viewer of this.#open) viewer.end();
  }

  /** Null if the response has become a stream of events. */
  async open(call: {
    readonly target: ControlRequest;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  }): Promise<HttpAnswer | null> {
    const { target, request, response } = call;
    if (request.method === "HEAD") {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...securityHeaders });
      response.end();
      return null;
    }
    if (this.#open.size >= limits.viewersMax) {
      return errorAnswer(apertureError("AP_VIEWERS_FULL", { viewers: this.#open.size }));
    }
    const viewer = new Viewer(this.#ask, response, this.#pace);
    this.#open.add(viewer);
    // The viewer listens before it asks for the session's seq: an event in between is seen twice, never lost.
    const stop = this.#watch((event) => viewer.push(event));
    const end = (): void => {
      stop();
      this.#open.delete(viewer);
    };
    const start = await this.#resolve(parseSubscription(target, request));
    if ("status" in start) {
      end();
      return start;
    }
    void viewer
      .run(start.subscription, start.head)
      .catch(() => response.destroy())
      .finally(end);
    return null;
  }

  /** Resolves the name of the followed session to its id, and finds its present seq. */
  async #resolve(
    subscription: Subscription,
  ): Promise<HttpAnswer | { readonly subscription: Subscription; readonly head: number }> {
    if (subscription.session === null) return { subscription, head: 0 };
    const answer = await this.#ask({ type: "session", session: subscription.session });
    if (!answer.ok) return errorAnswer(answer.error);
    const { session, seq } = answer.value;
    return { subscription: { ...subscription, session: session.id }, head: seq };
  }
}

/**
 * A browser that reconnects repeats its first address and adds the last event id it saw. That id is newer,
 * and counts if it belongs to the requested session.
 */
function parseSubscription(target: ControlRequest, request: IncomingMessage): Subscription {
  const requested = target.query.get("session");
  const seen = parseEventId(request.headers["last-event-id"]);
  if (requested === null)
    return { session: seen?.session ?? null, isExclusive: false, after: seen?.seq ?? null };
  if (seen !== null && (requested === lastSession || requested === seen.session)) {
    return { session: seen.session, isExclusive: true, after: seen.seq };
  }
  return { session: requested, isExclusive: true, after: numberParam(target, "after") ?? null };
}

function parseEventId(header: string | string[] | undefined) {
  const [, session, seq] = /^([^:]+):(\d{1,15})$/.exec(String(header ?? "")) ?? [];
  return isSessionId(session) && seq !== undefined ? { session, seq: Number(seq) } : null;
}
