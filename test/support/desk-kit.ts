import { type Clock, must, steppedClock } from "../../src/base/index.ts";
import { pricesOf } from "../../src/config/index.ts";
import {
  type AnswerNumbers,
  type Asking,
  BodyMemory,
  type DeskPlace,
  type Sending,
  SessionDesk,
  usualAwareness,
  usualHandling,
} from "../../src/session/index.ts";
import {
  type CoreAnswer,
  type ScriptedModel,
  type StrictCore,
  type StrictCoreOptions,
  strictCore,
} from "../../src/testing/index.ts";

export type KitOptions = {
  readonly model: ScriptedModel;
  readonly core?: Partial<StrictCoreOptions>;
  readonly place?: Partial<DeskPlace>;
  readonly clock?: Clock;
};
/** One body that reached the upstream. */
export type Attempt = {
  readonly sending: Sending;
  readonly body: string;
  readonly problem: string | null;
};
export type Posted = {
  readonly asking: Asking;
  readonly sending: Sending;
  /** Of every attempt that reached the upstream, the last one at the end. */
  readonly attempts: readonly Attempt[];
  readonly answer: CoreAnswer;
  /** As the client gets it. */
  readonly body: Buffer;
  /** What the desk calls the blocks of the answer. */
  readonly numbered: AnswerNumbers;
};
export type PostOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly target?: string;
  readonly credential?: string;
  /** The answer is never heard: the client left, or the connection broke. */
  readonly isLost?: boolean;
  /** Only so many wire events of the answer are heard. */
  readonly heard?: number;
};

/** A desk in front of the strict upstream, without sockets. */
export class DeskKit {
  desk: SessionDesk;
  readonly core: StrictCore;
  readonly #place: DeskPlace;
  #posts = 0;

  constructor({ model, core = {}, place = {}, clock = steppedClock(1_000_000) }: KitOptions) {
    this.core = strictCore({ model, clock, secret: "kit", ...core });
    this.#place = {
      clock,
      mode: () => "auto",
      nonceOf: () => "k7f3",
      newName: () => `talk-${this.#posts}`,
      remember: () => Promise.resolve(null),
      isRecording: () => true,
      recordOf: () => 0,
      isBehind: () => false,
      managesLogins: false,
      hasManaged: () => true,
      noteManaged: () => undefined,
      awareness: () => usualAwareness,
      windowOf: () => 200_000,
      pricesOf,
      handling: () => usualHandling,
      // Whoever looked at a body after it was given back would see it.
      memory: new BodyMemory({ freeMax: 64, freeBytesMax: 64 * 1024 * 1024, isSpoiled: true }),
      ...place,
    };
    this.desk = new SessionDesk(this.#place);
  }

  /** Another process takes over: what the desk held in memory is gone. */
  restart(): void {
    this.desk = new SessionDesk(this.#place);
  }

  async post(body: object | Buffer, options: PostOptions = {}): Promise<Posted> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const asking = this.#asking(bytes.length, options);
    const { desk } = this;
    const room = desk.room(bytes.length);
    room.set(bytes);
    let sending = await desk.take(asking, [room]);
    let answer = await this.#send(asking, sending.pieces, sending.betas);
    const attempts = [attemptOf(sending, answer)];
    if (answer.status === 400 && sending.mayRetry) {
      const again = desk.refused(sending, Buffer.concat(answer.chunks));
      if (again !== null) {
        desk.answered(sending, ended(answer, options));
        sending = again;
        answer = await this.#send(asking, sending.pieces, sending.betas);
        attempts.push(attemptOf(sending, answer));
      }
    }
    const numbered = desk.answered(sending, ended(answer, options));
    const last = must(attempts.at(-1), "there was one");
    return { asking, sending: last.sending, attempts, answer, body: Buffer.concat(answer.chunks), numbered };
  }

  /** Past the desk, as before Aperture was there. */
  direct(body: Buffer, options: PostOptions = {}): Promise<CoreAnswer> {
    return this.#send(this.#asking(body.length, options), [body], []);
  }

  #asking(
    length: number,
    { headers = {}, target = "/v1/messages", credential = "key-1" }: PostOptions,
  ): Asking {
    this.#posts += 1;
    return {
      id: `request-${this.#posts}`,
      protocol: "anthropic",
      upstream: "anthropic",
      method: "POST",
      target,
      headers: { "anthropic-version": "2023-06-01", "content-type": "application/json", ...headers },
      caller: { owner: "local", credential, secrets: [] },
      startedMs: this.#posts,
      length,
      isLogin: false,
    };
  }

  async #send(
    { headers, target, method }: Asking,
    pieces: Sending["pieces"],
    betas: Sending["betas"],
  ): Promise<CoreAnswer> {
    const beta = [headers["anthropic-beta"], ...betas].filter((one) => one !== undefined).join(",");
    const sent = { ...headers, "x-api-key": "k", ...(beta === "" ? {} : { "anthropic-beta": beta }) };
    const rawHeaders = Object.entries(sent).flat();
    const reading = this.core.read({ method, target, rawHeaders, body: Buffer.concat(pieces) });
    const answer = await this.core.answer(reading, this.#posts);
    answer.started();
    return answer;
  }
}

function attemptOf(sending: Sending, { problem }: CoreAnswer): Attempt {
  const kept = copyOf(sending);
  return {
    sending: kept,
    body: Buffer.concat(kept.pieces).toString("utf8"),
    problem: problem?.message ?? null,
  };
}

/** To be looked at for as long as a test likes: the memory of a body is used again. */
function copyOf({ pieces, clientBody, sent, ...rest }: Sending): Sending {
  return {
    ...rest,
    pieces: [Buffer.concat(pieces)],
    clientBody: Buffer.from(clientBody),
    sent: sent === null ? null : { ...sent, body: [Buffer.concat(sent.body)] },
  };
}

function ended(answer: CoreAnswer, { isLost = false, heard }: PostOptions) {
  const contentType = answer.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const body = isLost ? null : answer.chunks.slice(0, heard ?? answer.chunks.length);
  const isComplete = !isLost && heard === undefined;
  return { status: answer.status, contentType, contentEncoding: "", body, isComplete, hasLeft: true };
}
