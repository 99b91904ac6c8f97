import type { JsonObject } from "./json-text.ts";

/** A tool whose input is one string. */
export type ClientTool = { readonly name: string; readonly description: string; readonly field: string };

export type ScriptedClientOptions = {
  /** The address of Aperture, or of an upstream. */
  readonly url: string;
  readonly model: string;
  readonly answerTokensMax: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly system: string;
  readonly tools: readonly ClientTool[];
  readonly runTool: (name: string, input: JsonObject) => string;
};

type HistoryBlock = { readonly type: string; readonly [field: string]: unknown };
type HistoryMessage = { readonly role: "user" | "assistant"; readonly content: readonly HistoryBlock[] };

/**
 * A minimal client of the Messages API: it keeps the history, sends all of it with every request, and runs
 * the tools that the model calls.
 */
export class ScriptedClient {
  readonly #options: ScriptedClientOptions;
  #messages: readonly HistoryMessage[] = [];

  constructor(options: ScriptedClientOptions) {
    this.#options = options;
  }

  /** Runs a prompt until the model stops calling tools; `onTurn` is awaited after every answer. */
  async run(prompt: string, onTurn: (text: string) => Promise<void>): Promise<void> {
    let next: readonly HistoryBlock[] = [{ type: "text", text: prompt }];
    while (next.length > 0) {
      const content = await this.#send([...this.#messages, { role: "user", content: next }]);
      await onTurn(
        content
          .map(({ text }) => (typeof text === "string" ? text : ""))
          .join(" ")
          .trim(),
      );
      next = content.filter(({ type }) => type === "tool_use").map((call) => this.#result(call));
    }
  }

  async #send(messages: readonly HistoryMessage[]): Promise<readonly HistoryBlock[]> {
    const { url, model, answerTokensMax, headers, system, tools } = this.#options;
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
      body: JSON.stringify({
        model,
        max_tokens: answerTokensMax,
        system: [{ type: "text", text: system, ...mark }],
        tools: tools.map(toolDefinition),
        messages: withCacheMark(messages),
      }),
    });
    const answer = (await response.json()) as { readonly content?: readonly HistoryBlock[] };
    if (answer.content === undefined)
      throw new Error(`The model gave no answer: ${JSON.stringify(answer).slice(0, 300)}`);
    this.#messages = [...messages, { role: "assistant", content: answer.content }];
    return answer.content;
  }

  #result({ id, name, input }: HistoryBlock): HistoryBlock {
    const toolInput = (input ?? {}) as JsonObject; // a call has an object
    const content = this.#options.runTool(String(name), toolInput);
    return { type: "tool_result", tool_use_id: id, content };
  }
}

const mark = { cache_control: { type: "ephemeral" } };

function toolDefinition({ name, description, field }: ClientTool): object {
  const properties = { [field]: { type: "string" } };
  return { name, description, input_schema: { type: "object", properties, required: [field] } };
}

/** The last block carries the cache mark. */
function withCacheMark(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  const last = messages.at(-1);
  if (last === undefined) return messages;
  const content = last.content.map((block, at) =>
    at === last.content.length - 1 ? { ...block, ...mark } : block,
  );
  return [...messages.slice(0, -1), { ...last, content }];
}
