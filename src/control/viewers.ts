import type { IncomingMessage, ServerResponse } from "node:http";
import { apertureError, isSessionId, limits } from "../base/index.ts";
import { type Ask, type EngineEvent, lastSession } from "../session/index.ts";
import { type Asked, numberIn } from "./match.ts";
import { type Answer, refusal, securityHeaders } from "./respond.ts";
import { type Pace, Viewer, type Wish } from "./viewer.ts";

export type EventOptions = Pace;

type Watch = (listener: (event: EngineEvent) => void) => () => void;
type Opening = {
  readonly asked: Asked;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

const usualPace: Pace = { heartbeatMs: 15_000, fillPauseMs: 50, fillTries: 100 };

/** All that watch. There is a bound on how many, and each has a bound of its own. */
export class Viewers {
  readonly #ask: Ask;
  readonly #watch: Watch;
  readonly #pace: Pace;
  readonly #open = new Set<Viewer>();

  constructor(ask: Ask, watch: Watch, pace: Partial<Pace>) {
    this.#ask = ask;
    this.#watch = watch;
    this.#pace = { ...usualPace, ...pace };
  }

  get size(): number {
    return this.#open.size;
  }

  close(): void {
    for (const viewer of this.#open) viewer.end();
  }

  /** Null: the response has become a stream of events and is taken care of. */
  async open({ asked, request, response }: Opening): Promise<Answer | null> {
    if (request.method === "HEAD") {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...securityHeaders });
      response.end();
      return null;
    }
    if (this.#open.size >= limits.viewersMax) {
      return refusal(apertureError("AP_VIEWERS_FULL", { viewers: this.#open.size }));
    }
    const viewer = new Viewer(this.#ask, response, this.#pace);
    this.#open.add(viewer);
    // Listening comes before asking where the session stands: what happens in between is seen twice, and
    // never not at all.
    const stop = this.#watch((event) => viewer.push(event));
    const end = (): void => {
      stop();
      this.#open.delete(viewer);
    };
    const place = await this.#placeOf(wishOf(asked, request));
    if ("status" in place) {
      end();
      return place;
    }
    void viewer
      .run(place.wish, place.head)
      .catch(() => response.destroy())
      .finally(end);
    return null;
  }

  /** Where the session stands that is to be followed, under its real name. */
  async #placeOf(wish: Wish): Promise<Answer | { readonly wish: Wish; readonly head: number }> {
    if (wish.session === null) return { wish, head: 0 };
    const answer = await this.#ask({ type: "session", session: wish.session });
    if (!answer.ok) return refusal(answer.error);
    return { wish: { ...wish, session: answer.value.session.id }, head: answer.value.seq };
  }
}

/**
 * A browser that reconnects repeats the address it first had and adds the last id it saw: the id is newer,
 * and counts if it belongs to the session that is asked for.
 */
export function wishOf(asked: Asked, request: IncomingMessage): Wish {
  const named = asked.query.get("session");
  const seen = lastSeen(request.headers["last-event-id"]);
  if (named === null) return { session: seen?.session ?? null, only: false, after: seen?.seq ?? null };
  if (seen !== null && (named === lastSession || named === seen.session)) {
    return { session: seen.session, only: true, after: seen.seq };
  }
  return { session: named, only: true, after: numberIn(asked, "after") ?? null };
}

function lastSeen(header: string | string[] | undefined) {
  const [, session, seq] = /^([^:]+):(\d{1,15})$/.exec(String(header ?? "")) ?? [];
  return isSessionId(session) && seq !== undefined ? { session, seq: Number(seq) } : null;
}
