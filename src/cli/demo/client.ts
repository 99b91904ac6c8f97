import { files, runCommand } from "./project.ts";

type Block = { readonly type: string; readonly [field: string]: unknown };
type Message = { readonly role: "user" | "assistant"; readonly content: readonly Block[] };
type Input = Readonly<Record<string, unknown>>;

/** Its rules are those of a real one; the name decides the size of the window and the prices. */
export const demoModelName = "claude-opus-4-6";

/**
 * An agent's client as small as can be: it keeps the history, sends all of it with every request, and carries
 * out what the model calls. It knows nothing of Aperture but its address.
 */
export class DemoClient {
  readonly #url: string;
  #messages: readonly Message[] = [];
  readonly #ran = new Map<string, number>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Answers the prompt, tool by tool; `onTurn` is awaited after every answer. */
  async run(prompt: string, onTurn: (said: string) => Promise<void>): Promise<void> {
    let next: readonly Block[] = [{ type: "text", text: prompt }];
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

  async #send(messages: readonly Message[]): Promise<readonly Block[]> {
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
        model: demoModelName,
        max_tokens: 4_000,
        system,
        tools,
        messages: marked(messages),
      }),
    });
    const answer = (await response.json()) as { readonly content?: readonly Block[] };
    if (answer.content === undefined)
      throw new Error(`The demo stopped: ${JSON.stringify(answer).slice(0, 300)}`);
    this.#messages = [...messages, { role: "assistant", content: answer.content }];
    return answer.content;
  }

  #result({ id, name, input }: Block): Block {
    const given = (input ?? {}) as Input; // a call has an object
    return { type: "tool_result", tool_use_id: id, content: this.#carriedOut(String(name), given) };
  }

  #carriedOut(name: string, input: Input): string {
    if (name === "read") return files[String(input["path"])] ?? "no such file";
    if (name === "edit") return `${String(input["path"])} is changed`;
    const command = String(input["command"]);
    const times = this.#ran.get(command) ?? 0;
    this.#ran.set(command, times + 1);
    return runCommand(command, this.#ran.size + times);
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

/** The last block bears the mark up to which the provider is to keep the prompt. */
function marked(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last === undefined) return messages;
  const content = last.content.map((block, at) =>
    at === last.content.length - 1 ? { ...block, ...mark } : block,
  );
  return [...messages.slice(0, -1), { ...last, content }];
}
