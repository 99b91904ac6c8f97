import { randomUUID } from "node:crypto";
import type { UpstreamExchange } from "../../src/testing/index.ts";
import { type Answer, ask, modelHeaders } from "./app.ts";
import { clearedCalls } from "./cleared-calls.ts";
import { manifestStart } from "./own-lines.ts";
import { parseAnswer } from "./parse-answer.ts";

type Block = { readonly type: string; readonly [field: string]: unknown };
export type ClientMessage = { readonly role: string; readonly content: readonly Block[] };

export type TestClientOptions = {
  readonly model?: string;
  readonly session?: string | null;
  /** Added to the first prompt, so that a session is large enough to be managed. */
  readonly bulk?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of every body, or other values for them. */
  readonly more?: Readonly<Record<string, unknown>>;
};

const mark = { cache_control: { type: "ephemeral" } };
const tools = ["look", "find"].map((name) => ({
  name,
  description: `${name}s for something`,
  input_schema: { type: "object", properties: { n: { type: "number" } } },
}));

/**
 * A small agent of a client: it holds the history, answers every tool call, and writes its bodies as Claude
 * Code does, with the mark on the last block.
 */
export class TestClient {
  messages: readonly ClientMessage[] = [];
  readonly session: string | null;
  readonly #model: string;
  readonly #bulk: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #more: Readonly<Record<string, unknown>>;

  constructor({
    model = "claude-opus-5-5",
    session = randomUUID(),
    bulk = 40_000,
    headers = {},
    more = {},
  }: TestClientOptions = {}) {
    this.#model = model;
    this.session = session;
    this.#bulk = bulk;
    this.#headers = headers;
    this.#more = more;
  }

  /** The next thing to say: results for open calls, or a prompt. */
  next(text: string): ClientMessage {
    const calls = this.messages.at(-1)?.content.filter(({ type }) => type === "tool_use") ?? [];
    const results = calls.map(({ id }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: `result ${this.messages.length} ${"x".repeat(200)}`,
    }));
    if (results.length > 0) return { role: "user", content: results };
    const bulk = this.messages.length === 0 ? `\n${"q7 x9 z4 w2".repeat(this.#bulk / 11)}` : "";
    return { role: "user", content: [{ type: "text", text: `${text}${bulk}` }] };
  }

  body(messages: readonly ClientMessage[] = this.messages): Buffer {
    const last = messages.length - 1;
    const written = messages.map(({ role, content }, at) => {
      const [first] = content;
      if (at !== last && role === "user" && content.length === 1 && first?.type === "text")
        return { role, content: first["text"] };
      const end = content.length - 1;
      return {
        role,
        content: content.map((block, index) =>
          at === last && index === end ? { ...block, ...mark } : block,
        ),
      };
    });
    const system = [{ type: "text", text: "You are an agent.", ...mark }];
    const rest = { max_tokens: 4_000, thinking: { type: "adaptive" }, ...this.#more };
    return Buffer.from(JSON.stringify({ model: this.#model, messages: written, system, tools, ...rest }));
  }

  /** Sends one turn, and takes over what comes back if it is whole. */
  async turn(url: string, text: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const asked = [...this.messages, this.next(text)];
    const answer = await this.post(url, this.body(asked), headers);
    if (answer.status === 200 && answer.isWhole) {
      this.messages = [...asked, { role: "assistant", content: parseAnswer(answer).content }];
    }
    return answer;
  }

  post(url: string, body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const named = this.session === null ? {} : { "x-claude-code-session-id": this.session };
    return ask(`${url}/v1/messages`, {
      headers: { ...modelHeaders, ...named, ...this.#headers, ...headers },
      body,
    });
  }
}

/** What was refused for the sake of its content. */
export function rejections(exchanges: readonly UpstreamExchange[]): readonly string[] {
  return exchanges.flatMap(({ status, error }) => (status === 400 ? [error?.message ?? "400"] : []));
}

/**
 * How often a request did not go on from the one before it: its units, marks removed, are not the beginning
 * of the next ones. A last text of ours that is dropped does not count.
 */
export function prefixBreaks(bodies: readonly Buffer[]): number {
  const prompts = bodies.map(promptOf);
  return prompts.filter((now, at) => at > 0 && !goesOn(prompts[at - 1] ?? [], now)).length;
}

function goesOn(before: readonly string[], now: readonly string[]): boolean {
  const kept = isDropped(before.at(-1)) ? before.slice(0, -1) : before;
  return [before, kept].some((units) => units.every((unit, at) => unit === now[at]));
}

/** A tail that a model without clearing messages gets inside the last message. */
function isDropped(unit: string | undefined): boolean {
  return /^\[\{"role":"(?:user|system)"\},/.test(unit ?? "") && manifestStart.test(unit ?? "");
}

type Sent = {
  readonly tools?: readonly { readonly defer_loading?: boolean }[];
  readonly system?: unknown;
  readonly messages: readonly { readonly content: unknown }[];
  readonly context_management?: unknown;
};

/**
 * The units of a body: everything in front of the messages as one, then block by block, without what the
 * provider leaves out.
 */
export function promptOf(body: Buffer): readonly string[] {
  const bare = (key: string, value: unknown): unknown => (key === "cache_control" ? undefined : value);
  // Our own upstream has accepted it.
  const sent = JSON.parse(body.toString(), bare) as Sent;
  const { tools: given = [], system, messages } = sent;
  const cleared = clearedCalls(sent);
  // A tool that is loaded later is not part of the prompt yet.
  const shown = given.filter((tool) => tool.defer_loading !== true);
  const units = messages.flatMap(({ content, ...message }) =>
    (Array.isArray(content) ? content : [{ type: "text", text: content }]).map((block) =>
      JSON.stringify([message, cleared.has(block["tool_use_id"]) ? { ...block, content: "cleared" } : block]),
    ),
  );
  return [JSON.stringify([shown, system]), ...units];
}
