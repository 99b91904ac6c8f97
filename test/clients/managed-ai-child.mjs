// A small agent made with ai and @ai-sdk/anthropic that keeps one conversation over several steps. Arguments:
// the URLs of the two packages, and a plan as JSON, as for the program that uses @anthropic-ai/sdk.
const [, , aiUrl = "", anthropicUrl = "", planText = "{}"] = process.argv;
const { generateText, jsonSchema, stepCountIs, streamText, tool } = await import(aiUrl);
const { createAnthropic } = await import(anthropicUrl);
const { bulk = "", patience = 0, steps } = JSON.parse(planText);

const add = tool({
  description: "Adds two numbers.",
  inputSchema: jsonSchema({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" }, lines: { type: "number" } },
  }),
  execute: sumOf,
});
const messages = [];
let tries = 0;

/** A sum, and the requested number of extra lines, all different. */
function sumOf({ a, b, lines = 0 }) {
  const line = (at) => {
    const numbers = Array.from({ length: 8 }, (_, n) => ((at + 1) * (n + 3) * (b + 7) * 7919) % 9973);
    return `page ${b}, line ${at}: ${numbers.join(" ")}`;
  };
  return [String(a + b), ...Array.from({ length: lines }, (_, at) => line(at))].join("\n");
}

/** Marks only the last user message: a request may hold at most four marks. */
function withMark(all) {
  const last = all.findLastIndex(({ role }) => role === "user");
  const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
  return all.map((message, at) => (at === last ? { ...message, providerOptions } : message));
}

function settingsFor({ url, headers = {} }) {
  const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: "sk-test-0123456789abcdefghij" });
  return {
    model: anthropic("claude-opus-5-5"),
    headers,
    tools: { add },
    stopWhen: stepCountIs(8),
    maxRetries: 0,
    system: "Be brief.",
    providerOptions: { anthropic: { thinking: { type: "adaptive" } } },
  };
}

async function once(step) {
  const settings = { ...settingsFor(step), messages: withMark(messages) };
  if (step.streams !== true) {
    const { text, response } = await generateText(settings);
    return { text, added: response.messages };
  }
  let failure = null;
  const result = streamText({ ...settings, onError: ({ error }) => (failure ??= error) });
  await result.consumeStream({ onError: (error) => (failure ??= error) });
  if (failure !== null) throw failure;
  return { text: await result.text, added: (await result.response).messages };
}

/** An interrupted step is repeated, as programs do; a refused one is not. */
async function run(step) {
  for (let left = patience; ; left -= 1) {
    tries += 1;
    try {
      const { text, added } = await once(step);
      messages.push(...added);
      return text;
    } catch (error) {
      const status = error?.statusCode;
      const isRefused = typeof status === "number" && status >= 400 && status < 500;
      if (isRefused || left <= 0) throw error;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }
}

for (const [at, step] of steps.entries()) {
  const content = at === 0 ? `${step.prompt}\n${bulk}` : step.prompt;
  messages.push({ role: "user", content });
  try {
    console.log(JSON.stringify({ step: at, value: await run(step), tries }));
  } catch (error) {
    console.log(JSON.stringify({ step: at, value: `${error?.statusCode ?? ""} ${error?.message}`, tries }));
    process.exit(1);
  }
}
console.log(JSON.stringify({ step: "messages", value: messages }));
