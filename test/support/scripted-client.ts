import { must } from "../../src/base/index.ts";
import type { PlannedRequest, SentRequestUnit } from "../../src/exchange/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { type ModelReply, type StrictCoreOptions, script } from "../../src/testing/index.ts";
import { PlannerKit, type Posted, type PostOptions } from "./planner-kit.ts";
import { type UpstreamUnit, upstreamUnits } from "./upstream-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

export type ClientBlock = Readonly<Record<string, unknown>>;
export type ClientMessage = {
  readonly role: string;
  readonly content: string | readonly ClientBlock[];
  readonly [extra: string]: unknown;
};
export type ClientBody = {
  readonly model: string;
  readonly system?: string | readonly ClientBlock[];
  readonly tools?: readonly ClientBlock[];
  readonly messages: readonly ClientMessage[];
  readonly [field: string]: unknown;
};

/** A request as it went upstream, with what came back. */
export type Sent = Posted & {
  readonly units: readonly UpstreamUnit[];
  /** What the model said, as the client stores it. */
  readonly said: ClientMessage;
};

export const named: PostOptions = { headers: { "x-aperture-session": "one" } };
export const mark = { cache_control: { type: "ephemeral" } } as const;
export const text = (words: string, over: object = {}): ClientBlock => ({
  type: "text",
  text: words,
  ...over,
});
export const user = (...content: readonly ClientBlock[]): ClientMessage => ({ role: "user", content });
export const result = (id: string, content: unknown, over: object = {}): ClientBlock => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...over,
});
export const tool = (name: string, over: object = {}): ClientBlock => ({
  name,
  description: `The tool ${name}.`,
  input_schema: { type: "object", properties: {} },
  ...over,
});

/** A client that is led by a script, in front of a planner whose upstream forgives nothing. */
export class ScriptedClient {
  readonly kit: PlannerKit;
  readonly #reported = new Map<string, SentRequestUnit>();

  constructor(replies: readonly ModelReply[], core: Partial<StrictCoreOptions> = {}) {
    this.kit = new PlannerKit({ model: script(replies), core });
  }

  async post(body: ClientBody, options: PostOptions = named): Promise<Sent> {
    const posted = await this.kit.post(Buffer.from(wireText(body)), options);
    const { sending, answer, attempts } = posted;
    for (const unit of sending.sent?.fresh ?? []) this.#reported.set(unit.id, unit);
    const units = upstreamUnits(must(attempts.at(-1), "something was sent").body);
    const content = answer.status === 200 ? contentOf(posted.body) : [];
    return { ...posted, units, said: { role: "assistant", content } };
  }

  /** The path that the log was told of, from the first unit on. */
  reported({ sent }: PlannedRequest): readonly SentRequestUnit[] {
    const path: SentRequestUnit[] = [];
    let id: string | null = sent?.leaf ?? null;
    while (id !== null) {
      const unit: SentRequestUnit = must(this.#reported.get(id), "every unit of a path was reported");
      path.push(unit);
      id = unit.parent;
    }
    return path.reverse();
  }
}

/** A text of the form `@123` stands for a number that no program can hold. */
export function wireText(body: unknown): string {
  return JSON.stringify(body).replace(/"@(-?\d[\d.eE+-]*)"/g, "$1");
}

function contentOf(body: Buffer): readonly ClientBlock[] {
  if (body.subarray(0, 6).toString() === "event:") {
    const { units } = readAnswer(body, "text/event-stream");
    return units.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()) as ClientBlock);
  }
  return (JSON.parse(body.toString()) as { readonly content?: readonly ClientBlock[] }).content ?? [];
}
