import { must, type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { RequestMeta, StreamLookup, Wishes } from "../../src/exchange/index.ts";
import { type Awareness, defaultAwareness } from "../../src/host/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import { openMemoryStore, type Store } from "../../src/store/index.ts";
import { script } from "../../src/testing/index.ts";
import { PlannerKit, type Posted } from "../support/planner-kit.ts";
import {
  type ClientBlock,
  type ClientBody,
  type ClientMessage,
  mark,
  wireText,
} from "../support/scripted-client.ts";
import { type SteppedClock, steppedClock } from "../support/stepped-clock.ts";
import { type UpstreamUnit, upstreamUnits } from "../support/upstream-units.ts";
import type { Fields, GoldenSession, GoldenStep } from "./session-file.ts";
import { performAct } from "./user-acts.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const interceptAnswer = anthropic.answer.intercept;

export type GoldenExchange = {
  readonly step: GoldenStep;
  readonly posted: Posted;
  readonly client: ClientBody;
  readonly units: readonly UpstreamUnit[];
  /** What was recorded since the request before. */
  readonly frames: readonly Frame[];
};
export type PlayedSession = {
  readonly exchanges: readonly GoldenExchange[];
  readonly frames: readonly Frame[];
  /** What the log has told the planner, in order. */
  readonly wishes: readonly Wishes[];
  /** Exchanges that could not be written down. */
  readonly gaps: number;
  /** Where it was written down. */
  readonly store: Store;
};

export async function playSession(session: GoldenSession): Promise<PlayedSession> {
  const player = new Player(session);
  const exchanges: GoldenExchange[] = [];
  for (const step of session.steps) exchanges.push(await player.play(step));
  const frames = exchanges.flatMap((exchange) => exchange.frames);
  return { exchanges, frames, wishes: player.wishes, gaps: player.gaps(), store: player.store };
}

const recordMs = 1_700_000_000_000;

/** A scripted client, a planner, the strict upstream, and a recorder fed as a relay would feed it. */
class Player {
  readonly wishes: Wishes[] = [];
  readonly #session: GoldenSession;
  readonly #clock: SteppedClock;
  readonly #kit: PlannerKit;
  readonly store = openMemoryStore();
  #recorder: SessionRecorder;
  readonly #histories: (readonly ClientMessage[])[] = [[]];
  #body: Fields;
  #awareness: Awareness;
  readonly #lastSeqs = new Map<SessionId, number>();

  constructor(session: GoldenSession) {
    this.#session = session;
    this.#recorder = this.#newRecorder();
    this.#body = session.body;
    this.#clock = steppedClock(session.startsAt === undefined ? 1_000_000 : Date.parse(session.startsAt));
    this.#awareness = { ...defaultAwareness, ...session.awareness };
    const replies = session.steps.flatMap(({ reply }) => (reply === undefined ? [] : [{ content: reply }]));
    const remember = async (question: StreamLookup) => unwrap(await this.#recorder.streamRecord(question));
    const place = { lookUpStream: remember, awareness: () => this.#awareness, managesLogins: () => true };
    this.#kit = new PlannerKit({ model: script(replies), clock: this.#clock, place });
    this.#lead();
  }

  async play(step: GoldenStep): Promise<GoldenExchange> {
    if (step.restart) this.#restart();
    this.#clock.advance((step.idleMinutes ?? 0) * 60_000);
    const { over = {}, target, isLost = false, awareness, acts = [] } = step;
    this.#body = { ...this.#body, ...over };
    this.#awareness = { ...this.#awareness, ...awareness };
    const session = sessionId("golden-1");
    for (const act of acts) {
      await performAct({ recorder: this.#recorder, store: this.store, session }, act);
    }
    const client: ClientBody = { ...this.#body, messages: this.#messages(step) };
    const headers = { ...this.#session.headers, ...step.headers };
    const where = target === undefined ? {} : { target };
    const body = Buffer.from(wireText(client));
    const posted = await this.#kit.post(body, { headers, isLost, ...where });
    await this.#record(posted);
    this.#histories.push([...this.#messages({ ...step, isMarked: true }), ...answerMessages(posted)]);
    const units = upstreamUnits(must(posted.attempts.at(-1), "it was sent").body);
    return { step, posted, client, units, frames: await this.#newFrames() };
  }

  /** The frames that were appended since the last call. */
  async #newFrames(): Promise<readonly Frame[]> {
    await this.store.flush();
    const frames: Frame[] = [];
    for (const { session } of unwrap(await this.store.sessions())) {
      const after = this.#lastSeqs.get(session) ?? 0;
      const page = unwrap(await this.store.frames({ session, after, limit: 1000 }));
      this.#lastSeqs.set(session, page.at(-1)?.seq ?? after);
      frames.push(...page);
    }
    return frames;
  }

  gaps(): number {
    return this.#recorder.counts().gaps;
  }

  #newRecorder(): SessionRecorder {
    let sessions = 0;
    const newSession = (): SessionId => {
      sessions += 1;
      return sessionId(`golden-${sessions}`);
    };
    return new SessionRecorder({
      store: this.store,
      clock: { now: () => recordMs },
      newSession,
      onEvent: () => undefined,
      onWishes: (wishes) => {
        this.wishes.push(wishes);
        this.#kit.planner.updateWishes(wishes);
      },
      windowOf: () => 200_000,
      policy: this.#session.policy ?? "off",
    });
  }

  #restart(): void {
    this.#recorder = this.#newRecorder();
    this.#kit.restart();
    this.#lead();
  }

  /** The kit asks one upstream with a key; what else there is the planner is told here. */
  #lead(): void {
    const { planner } = this.#kit;
    const take = planner.plan.bind(planner);
    planner.plan = (asking, pieces) => take({ ...asking, ...this.#where() }, pieces);
  }

  #where(): Pick<RequestMeta, "upstream" | "isLogin"> {
    const { upstream = "anthropic", isLogin = false } = this.#session;
    return { upstream, isLogin };
  }

  #messages({ from, keep, edit = {}, add = [], isMarked = false }: GoldenStep): readonly ClientMessage[] {
    const history = must(this.#histories.at(from ?? -1), "the step was played");
    const kept = history.slice(0, keep ?? history.length);
    const messages = [...kept.map((message, at) => edit[at] ?? message), ...add];
    return isMarked ? messages : markedLast(messages);
  }

  async #record({ asking, attempts, answer, body, numbered }: Posted): Promise<void> {
    const [first, ...again] = attempts.map(({ sending }) => sending);
    const { clientBody, sent } = must(first, "something was sent");
    const where = this.#where();
    await this.#recorder.recordRequest({
      ...asking,
      ...where,
      body: clientBody,
      length: clientBody.length,
      sent,
    });
    for (const sending of again) await this.#recorder.recordResend(asking.id, sending.sent);
    const type = answer.headers.find(([name]) => name === "content-type")?.[1] ?? "";
    await this.#recorder.recordResponse({
      id: asking.id,
      status: answer.status,
      headers: { "content-type": type },
      body,
      length: body.length,
      answer: null,
      outcome: "complete",
      blockNumbers: numbered,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
    });
  }
}

/** The last words that may carry a mark do. */
function markedLast(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  const last = messages.findLastIndex(({ content }) => content.length > 0);
  return messages.map((message, at) => {
    const { content } = message;
    if (at !== last || typeof content === "string") return message;
    const marked = content.map((block, index) =>
      index === content.length - 1 ? { ...block, ...mark } : block,
    );
    return { ...message, content: marked };
  });
}

/** What the client keeps of an answer: the lines of ours in it were taken out on the way. */
function answerMessages({ answer, body, sending }: Posted): readonly ClientMessage[] {
  if (answer.status !== 200) return [];
  const options = {
    ownLines: sending.ownLineFilter,
    isOwnTool: null,
    commandNonce: null,
    bytesMax: body.length,
  };
  const relay = must(interceptAnswer("application/json", options), "the form is known");
  const got = Buffer.concat([...relay.push(body), ...relay.end()]);
  const { content } = JSON.parse(got.toString()) as { readonly content?: readonly ClientBlock[] };
  return content === undefined ? [] : [{ role: "assistant", content }];
}
