// A small agent made with @anthropic-ai/sdk that keeps one conversation over several steps. Arguments: the
// URL of the package, and a plan as JSON: for each step its prompt, its address, more headers, another model,
// files that can be read, and a flag for streamed answers. Every step prints one line of JSON. Without steps
// in the plan they are read from the standard input, each a line of JSON.
import { createInterface } from "node:readline";

const [, , moduleUrl = "", planText = "{}"] = process.argv;
const { Anthropic } = await import(moduleUrl);
const { bulk = "", patience = 0, steps = stepsFromInput() } = JSON.parse(planText);
// Sometimes fetch keeps waiting although its connection is gone: only this timeout ends it.
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

/** A request without an answer is repeated, as agents do; a refused one is not. */
async function ask({ url, headers = {}, streams = false, model = common.model, files }) {
  for (let left = patience; ; left -= 1) {
    tries += 1;
    try {
      const one = client.withOptions({ baseURL: url });
      const tools = files === undefined ? common.tools : [...common.tools, read];
      const body = { ...common, model, tools, messages: withMark(messages) };
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

/** A sum, and the requested number of extra lines, all different. */
function sumOf({ a, b, lines = 0 }) {
  const line = (at) => {
    const numbers = Array.from({ length: 8 }, (_, n) => ((at + 1) * (n + 3) * (b + 7) * 7919) % 9973);
    return `page ${b}, line ${at}: ${numbers.join(" ")}`;
  };
  return [String(a + b), ...Array.from({ length: lines }, (_, at) => line(at))].join("\n");
}

/** Marks the last block, so that the next request finds it cached. */
function withMark(all) {
  const last = all.at(-1);
  const end = last.content.length - 1;
  const content = last.content.map((block, at) =>
    at === end ? { ...block, cache_control: { type: "ephemeral" } } : block,
  );
  return [...all.slice(0, -1), { ...last, content }];
}

/** The tool runner of the package. It first asks for a thread, which our upstream does not keep. */
async function runWithToolRunner({ url, headers = {}, streams = false }) {
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
  if (step.runs === true) return runWithToolRunner(step);
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

async function* stepsFromInput() {
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
