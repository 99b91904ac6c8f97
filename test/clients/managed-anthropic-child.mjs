// A small agent made with @anthropic-ai/sdk that keeps one conversation over several steps. Arguments: where
// the package is, and a plan as JSON: for each step its prompt, its address, further headers, another model,
// files that can be read, and whether the answers stream. Every step prints one line of JSON. A plan
// without steps has them come in, each a line of JSON, until there are no more.
import { createInterface } from "node:readline";

const [, , moduleUrl = "", planText = "{}"] = process.argv;
const { Anthropic } = await import(moduleUrl);
const { bulk = "", patience = 0, steps = stepsGiven() } = JSON.parse(planText);
// Now and then fetch waits on although its connection is gone: only this ends it.
const timeout = 30_000;
const apiKey = "sk-test-0123456789abcdefghij";
const client = new Anthropic({ apiKey, authToken: null, maxRetries: 0, timeout });

const schema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" }, lines: { type: "number" } },
};
const add = { name: "add", description: "Adds two numbers.", input_schema: schema };
const path = { type: "object", properties: { path: { type: "string" } } };
const read = { name: "read", description: "Reads a file.", input_schema: path };
const common = {
  model: "claude-opus-5-5",
  max_tokens: 2048,
  thinking: { type: "adaptive" },
  tools: [add],
  system: "Be brief.",
};
const messages = [];
let tries = 0;

/** An answer that does not arrive is asked for again, as agents do; one that is refused is not. */
async function ask({ url, headers = {}, streams = false, model = common.model, files }) {
  for (let left = patience; ; left -= 1) {
    tries += 1;
    try {
      const one = client.withOptions({ baseURL: url });
      const tools = files === undefined ? common.tools : [...common.tools, read];
      const body = { ...common, model, tools, messages: marked(messages) };
      return streams
        ? await one.messages.stream(body, { headers }).finalMessage()
        : await one.messages.create(body, { headers });
    } catch (error) {
      const isRefused = typeof error?.status === "number" && error.status < 500;
      if (isRefused || left <= 0) throw error;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }
}

/** A sum, and as many further lines as are asked for, no two of them alike. */
function sumOf({ a, b, lines = 0 }) {
  const line = (at) => {
    const numbers = Array.from({ length: 8 }, (_, n) => ((at + 1) * (n + 3) * (b + 7) * 7919) % 9973);
    return `page ${b}, line ${at}: ${numbers.join(" ")}`;
  };
  return [String(a + b), ...Array.from({ length: lines }, (_, at) => line(at))].join("\n");
}

/** What is said last is marked, so that the next request finds it cached. */
function marked(all) {
  const last = all.at(-1);
  const end = last.content.length - 1;
  const content = last.content.map((block, at) =>
    at === end ? { ...block, cache_control: { type: "ephemeral" } } : block,
  );
  return [...all.slice(0, -1), { ...last, content }];
}

/** The loop of the package itself: with its threads, which nobody here keeps, and without. */
async function runThrough({ url, headers = {}, streams = false }) {
  const one = client.withOptions({ baseURL: url, defaultHeaders: headers });
  const tool = { ...add, run: sumOf, parse: (input) => input };
  const body = { ...common, messages: [...messages], tools: [tool], stream: streams };
  const runner = one.beta.messages.toolRunner(body);
  const { content } = await runner;
  messages.push(...runner.params.messages.slice(messages.length));
  if (messages.at(-1).role !== "assistant") messages.push({ role: "assistant", content });
  return content.findLast(({ type }) => type === "text")?.text ?? "";
}

async function run(step) {
  if (step.runs === true) return runThrough(step);
  for (;;) {
    const { content } = await ask(step);
    messages.push({ role: "assistant", content });
    const calls = content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) return content.findLast(({ type }) => type === "text")?.text ?? "";
    const results = calls.map(({ id, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: "path" in input ? (step.files?.[input.path] ?? "There is no such file.") : sumOf(input),
    }));
    messages.push({ role: "user", content: results });
  }
}

async function* stepsGiven() {
  for await (const line of createInterface({ input: process.stdin })) yield JSON.parse(line);
}

let at = -1;
for await (const step of steps) {
  at += 1;
  const text = at === 0 ? `${step.prompt}\n${bulk}` : step.prompt;
  messages.push({ role: "user", content: [{ type: "text", text }] });
  try {
    console.log(JSON.stringify({ step: at, value: await run(step), tries }));
  } catch (error) {
    console.log(JSON.stringify({ step: at, value: `${error?.status ?? ""} ${error?.message}`, tries }));
    process.exit(1);
  }
}
console.log(JSON.stringify({ step: "messages", value: messages }));
