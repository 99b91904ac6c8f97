import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, must, unwrap } from "../../src/base/index.ts";
import { pricesOf } from "../../src/config/index.ts";
import type { BlockNumbers, PlannedRequest, RequestMeta, ResponseSummary } from "../../src/exchange/index.ts";
import { defaultAwareness, SessionPlanner } from "../../src/host/index.ts";
import type { PlannerDeps } from "../../src/host/planner/session-planner.ts";
import { type Interceptor, protocolOf } from "../../src/protocols/index.ts";
import { BodyBufferPool, type SessionRecorder } from "../../src/recorder/index.ts";
import {
  type CoreAnswer,
  type ScriptedModel,
  type StrictCore,
  type StrictCoreOptions,
  strictCore,
} from "../../src/testing/index.ts";
import type { ExecuteCalls } from "./any-command.ts";
import { steppedClock } from "./stepped-clock.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const interceptAnswer = anthropic.answer.intercept;
const readAnswer = anthropic.answer.read;

export type KitOptions = {
  readonly model: ScriptedModel;
  readonly core?: Partial<StrictCoreOptions>;
  readonly place?: Partial<PlannerDeps>;
  readonly clock?: Clock;
  /**
   * Is told what a relay would tell it, while it happens, and carries out what answers ask of our tools.
   * Without one, calls of our tools get through to the client.
   */
  readonly recorder?: () => Pick<SessionRecorder, "recordRequest" | "recordResend" | "recordResponse"> & {
    readonly command: ExecuteCalls;
  };
};
/** One body that reached the upstream. */
export type Attempt = {
  readonly sending: PlannedRequest;
  readonly body: string;
  readonly problem: string | null;
};
export type Posted = {
  readonly asking: RequestMeta;
  readonly sending: PlannedRequest;
  /** Of every attempt that reached the upstream, the last one at the end. */
  readonly attempts: readonly Attempt[];
  readonly answer: CoreAnswer;
  /** What was sent after it for the same request, because the answer called our tools. */
  readonly rounds: readonly Attempt[];
  /** As the client gets it. */
  readonly body: Buffer;
  /** What the planner calls the blocks of the answer. */
  readonly numbered: BlockNumbers;
};
export type PostOptions = {
  /** The request uses a subscription login. */
  readonly isLogin?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly target?: string;
  readonly credential?: string;
  /** The answer is never heard: the client left, or the connection broke. */
  readonly isLost?: boolean;
  /** Only so many wire events of the answer are heard. */
  readonly heard?: number;
  /** What becomes of the first answer on its way here. */
  readonly damage?: (chunks: readonly Buffer[]) => readonly Buffer[];
};

/** A planner that manages everything and has no log, unless `over` says otherwise. */
export function plannerDeps(over: Partial<PlannerDeps> & Pick<PlannerDeps, "clock">): PlannerDeps {
  return {
    mode: () => "auto",
    nonceOf: () => "k7f3",
    newSessionName: () => "nameless",
    lookUpStream: () => Promise.resolve(null),
    isRecording: () => true,
    recordVersionOf: () => 0,
    isBehind: () => false,
    managesLogins: () => false,
    hasManaged: () => true,
    noteManaged: () => undefined,
    runCommands: () => Promise.resolve([]),
    awareness: () => defaultAwareness,
    windowOf: () => 200_000,
    pricesOf,
    arrivalPolicy: () => ({ arrival: "lossless" }),
    ...over,
  };
}

/** A planner in front of the strict upstream, without sockets. */
export class PlannerKit {
  planner: SessionPlanner;
  readonly core: StrictCore;
  readonly #place: PlannerDeps;
  readonly #recorder: KitOptions["recorder"];
  #commands: Promise<unknown>[] = [];
  #posts = 0;

  constructor({ model, core = {}, place = {}, clock = steppedClock(1_000_000), recorder }: KitOptions) {
    this.#recorder = recorder;
    this.core = strictCore({ model, clock, secret: "kit", ...core });
    this.#place = plannerDeps({
      clock,
      newSessionName: () => `talk-${this.#posts}`,
      runCommands: (asked) => this.#command(asked),
      // A reader that still uses a body after it was given back notices.
      bodyPool: new BodyBufferPool({ freeMax: 64, freeBytesMax: 64 * 1024 * 1024, isPoisoned: true }),
      ...place,
    });
    this.planner = new SessionPlanner(this.#place);
  }

  /** Another process takes over: what the planner held in memory is gone. */
  restart(): void {
    this.planner = new SessionPlanner(this.#place);
  }

  async post(body: object | Buffer, options: PostOptions = {}): Promise<Posted> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const asking = this.#asking(bytes.length, options);
    const { planner } = this;
    const room = planner.allocateBody(bytes.length);
    room.set(bytes);
    let sending = await planner.plan(asking, [room]);
    let answer = await this.#send(asking, sending.pieces, sending.betas);
    const attempts = [attemptOf(sending, answer)];
    if (answer.status === 400 && sending.mayRetry) {
      const again = planner.planRetry(sending, Buffer.concat(answer.chunks));
      if (again !== null) {
        planner.finish(sending, summaryOf(answer, options));
        sending = again;
        answer = await this.#send(asking, sending.pieces, sending.betas);
        attempts.push(attemptOf(sending, answer));
      }
    }
    answer = { ...answer, chunks: options.damage?.(answer.chunks) ?? answer.chunks };
    const relay = this.#recorder === undefined ? null : interceptorFor(sending, answer);
    const said = [...pushed(relay, answer)];
    const rounds: Attempt[] = [];
    await this.#tellAsked(asking, attempts);
    let numbered = planner.finish(sending, summaryOf(answer, options));
    while (relay?.isWaitingForUs() && options.isLost !== true && options.heard === undefined) {
      await this.#tellAnswered(asking, { answer, numbered }, { goesOn: true });
      const next = await planner.planRound(sending);
      if (next === null) break;
      relay.beginRound();
      sending = next;
      answer = await this.#send(asking, sending.pieces, sending.betas);
      rounds.push(attemptOf(sending, answer));
      await this.#recorder?.().recordResend(asking.id, must(rounds.at(-1), "it was sent").sending.sent);
      said.push(...pushed(relay, answer));
      numbered = planner.finish(sending, summaryOf(answer, options));
    }
    said.push(...(relay?.end() ?? []));
    await this.#tellAnswered(asking, { answer, numbered }, options);
    const { commandMs = 30_000 } = this.#place;
    await Promise.race([
      Promise.allSettled(this.#commands.splice(0)),
      sleep(commandMs, null, { ref: false }),
    ]);
    const { sending: last } = must(attempts.at(-1), "there was one");
    return { asking, sending: last, attempts, answer, rounds, body: Buffer.concat(said), numbered };
  }

  async #command(asked: Parameters<PlannerDeps["runCommands"]>[0]) {
    const recorder = this.#recorder?.();
    if (recorder === undefined) return [];
    const done = recorder.command(asked).then(unwrap);
    this.#commands.push(done);
    return await done;
  }

  async #tellAsked(asking: RequestMeta, attempts: readonly Attempt[]): Promise<void> {
    const recorder = this.#recorder?.();
    const [first, ...again] = attempts.map(({ sending }) => sending);
    if (recorder === undefined || first === undefined) return;
    const { clientBody: body, sent } = first;
    await recorder.recordRequest({ ...asking, body, length: body.length, sent });
    for (const { sent: other } of again) await recorder.recordResend(asking.id, other);
  }

  async #tellAnswered(
    { id }: RequestMeta,
    heard: AnswerReport,
    how: PostOptions & { goesOn?: true },
  ): Promise<void> {
    const { answer, numbered } = heard;
    const { body, contentType, isComplete } = ended(answer, how);
    const bytes = body === null ? null : Buffer.concat(body);
    await this.#recorder?.().recordResponse({
      id,
      status: answer.status,
      headers: { "content-type": contentType },
      body: bytes,
      length: bytes?.length ?? 0,
      answer: null,
      outcome: isComplete ? "complete" : "aborted",
      ...(how.goesOn ? { isContinued: true } : {}),
      blockNumbers: numbered,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
    });
  }

  /** Past the planner, as before Aperture was there. */
  direct(body: Buffer, options: PostOptions = {}): Promise<CoreAnswer> {
    return this.#send(this.#asking(body.length, options), [body], []);
  }

  #asking(
    length: number,
    { headers = {}, target = "/v1/messages", credential = "key-1", isLogin = false }: PostOptions,
  ): RequestMeta {
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
      isLogin,
    };
  }

  async #send(
    { headers, target, method }: RequestMeta,
    pieces: PlannedRequest["pieces"],
    betas: PlannedRequest["betas"],
  ): Promise<CoreAnswer> {
    const beta = [headers["anthropic-beta"], ...betas].filter((one) => one !== undefined).join(",");
    const sent = { ...headers, "x-api-key": "k", ...(beta === "" ? {} : { "anthropic-beta": beta }) };
    const rawHeaders = Object.entries(sent).flat();
    const reading = this.core.read({ method, target, rawHeaders, body: Buffer.concat(pieces) });
    const answer = await this.core.answer(reading, this.#posts);
    answer.onStart();
    return answer;
  }
}

function attemptOf(sending: PlannedRequest, { problem }: CoreAnswer): Attempt {
  const kept = copyOf(sending);
  return {
    sending: kept,
    body: Buffer.concat(kept.pieces).toString("utf8"),
    problem: problem?.message ?? null,
  };
}

/** To be looked at for as long as a test likes: the memory of a body is used again. */
function copyOf({ pieces, clientBody, sent, ...rest }: PlannedRequest): PlannedRequest {
  return {
    ...rest,
    pieces: [Buffer.concat(pieces)],
    clientBody: Buffer.from(clientBody),
    sent: sent === null ? null : { ...sent, body: [Buffer.concat(sent.body)] },
  };
}

type AnswerReport = { readonly answer: CoreAnswer; readonly numbered: BlockNumbers };

/** What hides calls of our tools, as the relay would choose it. */
function interceptorFor(
  { isOwnTool, commandNonce }: PlannedRequest,
  { isStreamed: streams }: CoreAnswer,
): Interceptor | null {
  if (isOwnTool === null && commandNonce === null) return null;
  const options = { ownLines: null, isOwnTool, commandNonce, bytesMax: 64 * 1024 * 1024 };
  return interceptAnswer(streams ? "text/event-stream" : "application/json", options);
}

function pushed(relay: Interceptor | null, { chunks }: CoreAnswer): readonly Uint8Array[] {
  return relay === null ? chunks : [...chunks.flatMap((chunk) => relay.push(chunk)), ...relay.endRound()];
}

function ended(answer: CoreAnswer, { isLost = false, heard }: PostOptions) {
  const contentType = answer.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const body = isLost ? null : answer.chunks.slice(0, heard ?? answer.chunks.length);
  return { contentType, body, isComplete: !isLost && heard === undefined };
}

/** The end of an answer as the planner gets it. */
function summaryOf(answer: CoreAnswer, options: PostOptions): ResponseSummary {
  const { contentType, body, isComplete } = ended(answer, options);
  const read = body === null ? null : readAnswer(Buffer.concat(body), contentType);
  return { status: answer.status, answer: read, isComplete, isRequestFlushed: true };
}
