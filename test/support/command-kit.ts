import { must, type SessionId, type StepId, sessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { ChangeContext, Proposal, State } from "../../src/engine/index.ts";
import type { StreamLookup, Wishes } from "../../src/exchange/index.ts";
import { executeRecordedCalls } from "../../src/execute/index.ts";
import { type Awareness, defaultAwareness } from "../../src/host/index.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import { openMemoryStore, type Store } from "../../src/store/index.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { contentOf } from "../simulate/answer.ts";
import type { ExecuteCalls } from "./any-command.ts";
import { type Attempt, PlannerKit, type Posted, type PostOptions } from "./planner-kit.ts";
import { type ClientBlock, type ClientMessage, mark, user } from "./scripted-client.ts";
import { type SteppedClock, steppedClock } from "./stepped-clock.ts";

type CommandForm = Awareness["commands"];

export type CommandKitOptions = {
  readonly model: ScriptedModel;
  readonly name?: string;
  readonly window?: number;
  readonly maxTokens?: number;
  readonly mode?: "observe" | "ask" | "auto";
  readonly policy?: "auto" | "off";
  readonly isStreamed?: boolean;
  readonly system?: readonly ClientBlock[];
  readonly store?: Store;
  /** How the model commands; by tools where nothing is said. */
  readonly commands?: CommandForm;
  /** How long commands are waited for. */
  readonly commandMs?: number;
};

const tools = ["read", "run"].map((name) => ({
  name,
  description: `To ${name}.`,
  input_schema: { type: "object", properties: {} },
}));
const fixedSystem: readonly ClientBlock[] = [
  { type: "text", text: "You look after an old library. ".repeat(40), ...mark },
];
export const kitNonce = "k7f3";

/** A client, a planner, a strict upstream, and a recorder that carries out commands; no sockets. */
export class CommandKit {
  readonly store: Store;
  readonly clock: SteppedClock = steppedClock(1_700_000_000_000);
  readonly session: SessionId = sessionId("hands-1");
  readonly wishes: Wishes[] = [];
  readonly kit: PlannerKit;
  recorder: SessionRecorder;
  history: readonly ClientMessage[] = [];
  /** Every body that reached the upstream, in order. */
  readonly sent: Attempt[] = [];
  /** Carries out the commands of an answer; a test may replace it. */
  command: ExecuteCalls = (asked) =>
    executeRecordedCalls(
      { recorder: this.recorder, store: this.store, windowOf: () => this.#options.window ?? 200_000 },
      asked,
    );
  readonly #options: CommandKitOptions;

  constructor(options: CommandKitOptions) {
    this.#options = options;
    this.store = options.store ?? openMemoryStore();
    this.recorder = this.#newRecorder();
    const { window = 200_000, mode = "auto", model, commandMs = 30_000, commands = "tools" } = options;
    this.kit = new PlannerKit({
      model,
      clock: this.clock,
      recorder: () => {
        const { recorder, command } = this;
        return {
          recordRequest: (copy) => recorder.recordRequest(copy),
          recordResend: (id, sent) => recorder.recordResend(id, sent),
          recordResponse: (copy) => recorder.recordResponse(copy),
          command,
        };
      },
      place: {
        mode: () => mode,
        nonceOf: () => kitNonce,
        lookUpStream: async (question: StreamLookup) => unwrap(await this.recorder.streamRecord(question)),
        windowOf: () => window,
        awareness: () => ({ ...defaultAwareness, commands }),
        deadlineMs: 10_000,
        commandMs,
      },
    });
  }

  /** Another process takes over: only what was stored is known. */
  restart(): void {
    this.recorder = this.#newRecorder();
    this.kit.restart();
  }

  /** One turn of the client: what it says, and the answer as it keeps it. */
  async say(said: string | readonly ClientBlock[], options: PostOptions = {}): Promise<Posted> {
    const blocks = typeof said === "string" ? [{ type: "text", text: said }] : said;
    const posted = await this.post([...this.history, user(...blocks)], options);
    const { isLost, heard, damage } = options;
    const isWhole = isLost !== true && heard === undefined && damage === undefined;
    if (posted.answer.status === 200 && isWhole) {
      this.history = [
        ...this.history,
        user(...blocks),
        { role: "assistant", content: this.answerOf(posted) },
      ];
    }
    return posted;
  }

  /** Results for the calls the client got, all of them the same words; nothing where it got none. */
  async results(content: unknown, options: PostOptions = {}): Promise<Posted | null> {
    const last = this.history.at(-1)?.content ?? [];
    const calls = (last as readonly ClientBlock[]).filter(({ type }) => type === "tool_use");
    const blocks = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content }));
    return blocks.length === 0 ? null : await this.say(blocks, options);
  }

  answerOf({ body }: Posted): readonly ClientBlock[] {
    return contentOf(body, this.#options.isStreamed === true);
  }

  async post(messages: readonly ClientMessage[], options: PostOptions = {}): Promise<Posted> {
    const { system = fixedSystem, isStreamed = false, name = "one", maxTokens = 32_000 } = this.#options;
    const body = {
      model: "claude-opus-5-5",
      max_tokens: maxTokens,
      ...(isStreamed ? { stream: true } : {}),
      system,
      tools,
      messages: messages.map((message, at) => (at === messages.length - 1 ? marked(message) : message)),
    };
    const headers = { "x-aperture-session": name, ...options.headers };
    const posted = await this.kit.post(body, { ...options, headers });
    this.sent.push(...posted.attempts, ...posted.rounds);
    return posted;
  }

  /** What the upstream did not accept. */
  problems(): readonly string[] {
    return this.sent.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  }

  async state(): Promise<State> {
    return unwrap(await this.recorder.cache.log(this.session)).state();
  }

  async frames(after = 0): Promise<readonly Frame[]> {
    await this.store.flush();
    const frames: Frame[] = [];
    for (;;) {
      const from = frames.at(-1)?.seq ?? after;
      const page = unwrap(await this.store.frames({ session: this.session, after: from, limit: 1_000 }));
      if (page.length === 0) return frames;
      frames.push(...page);
    }
  }

  /** Frames in which somebody's command was carried out. */
  async commandFrames(after = 0): Promise<readonly Frame[]> {
    return (await this.frames(after)).filter(({ cause }) => cause.type === "command");
  }

  async act(propose: (change: ChangeContext) => Proposal): Promise<Proposal> {
    return unwrap(await this.recorder.act(this.session, "main", propose));
  }

  async undo(step: StepId): Promise<void> {
    unwrap(await this.recorder.reverseStep(this.session, "undo", step));
  }

  /** The last step of the model that stands. */
  async lastStep(): Promise<StepId> {
    const frames = await this.commandFrames();
    const steps = frames.flatMap(({ actor, cause }) =>
      actor === "model" && cause.type === "command" && cause.step !== null ? [cause.step] : [],
    );
    return must(steps.at(-1), "the model has done something");
  }

  #newRecorder(): SessionRecorder {
    const { window = 200_000, policy = "off" } = this.#options;
    let sessions = 0;
    return new SessionRecorder({
      store: this.store,
      clock: this.clock,
      newSession: () => {
        sessions += 1;
        return sessionId(`hands-${sessions}`);
      },
      onEvent: () => undefined,
      onWishes: (wishes) => {
        this.wishes.push(wishes);
        this.kit.planner.updateWishes(wishes);
      },
      windowOf: () => window,
      policy,
    });
  }
}

function marked(message: ClientMessage): ClientMessage {
  const { content } = message;
  if (typeof content === "string") return message;
  const last = content.length - 1;
  return { ...message, content: content.map((block, at) => (at === last ? { ...block, ...mark } : block)) };
}
