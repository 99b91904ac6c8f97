import { files, runCommand } from "./demo-project.ts";

type DemoBlock = { readonly type: string; readonly [field: string]: unknown };
type DemoMessage = { readonly role: "user" | "assistant"; readonly content: readonly DemoBlock[] };
type DemoToolInput = Readonly<Record<string, unknown>>;

/** The rules of a real model apply. The name decides the window size and the prices. */
const demoClientModel = "claude-opus-4-6";

/**
 * A minimal client of an agent: it keeps the history, sends all of it with every request, and runs the tools
 * that the model calls. It knows only Aperture's address.
 */
export class DemoClient {
  readonly #url: string;
  #messages: readonly DemoMessage[] = [];
  readonly #runCounts = new Map<string, number>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Runs a prompt until the model stops calling tools; `onTurn` is awaited after every answer. */
  async run(prompt: string, onTurn: (text: string) => Promise<void>): Promise<void> {
    let next: readonly DemoBlock[] = [{ type: "text", text: prompt }];
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

  async #send(messages: readonly DemoMessage[]): Promise<readonly DemoBlock[]> {
    const response = await fetch(`${this.#url}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "aperture-demo",
        "anthropic-version": "2023-06-01",
        "x-api-key": "demo",
        "x-aperture-session": "fix-auth",
      },
      body: JSON.stringify({
        model: demoClientModel,
        max_tokens: 4_000,
        system,
        tools,
        messages: withCacheMark(messages),
      }),
    });
    const answer = (await response.json()) as { readonly content?: readonly DemoBlock[] };
    if (answer.content === undefined)
      throw new Error(`The demo stopped: ${JSON.stringify(answer).slice(0, 300)}`);
    this.#messages = [...messages, { role: "assistant", content: answer.content }];
    return answer.content;
  }

  #result({ id, name, input }: DemoBlock): DemoBlock {
    const toolInput = (input ?? {}) as DemoToolInput; // a call has an object
    return { type: "tool_result", tool_use_id: id, content: this.#runTool(String(name), toolInput) };
  }

  #runTool(name: string, input: DemoToolInput): string {
    if (name === "read") return files[String(input["path"])] ?? "no such file";
    if (name === "edit") return `${String(input["path"])} is changed`;
    const command = String(input["command"]);
    const times = this.#runCounts.get(command) ?? 0;
    this.#runCounts.set(command, times + 1);
    return runCommand(command, this.#runCounts.size + times);
  }
}

const mark = { cache_control: { type: "ephemeral" } };
const system = [{ type: "text", text: "You are a careful engineer who works on a shop.", ...mark }];
const tools = [
  { name: "read", about: "a file of the project", field: "path" },
  { name: "edit", about: "a change to a file", field: "path" },
  { name: "run", about: "a command and what it prints", field: "command" },
].map(({ name, about, field }) => ({
  name,
  description: about,
  input_schema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
}));

/** The last block carries the cache mark. */
function withCacheMark(messages: readonly DemoMessage[]): readonly DemoMessage[] {
  const last = messages.at(-1);
  if (last === undefined) return messages;
  const content = last.content.map((block, at) =>
    at === last.content.length - 1 ? { ...block, ...mark } : block,
  );
  return [...messages.slice(0, -1), { ...last, content }];
}
