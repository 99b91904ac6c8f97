// Many identical calls at once with @anthropic-ai/sdk, each of which continues separately. Arguments: the URL
// of the package, and a plan as JSON: the address, more headers, the number of twins, the number of turns of
// each, and the first prompt. Prints one line of JSON for each twin: its whole conversation at the end.
const [, , moduleUrl = "", planText = "{}"] = process.argv;
const { Anthropic } = await import(moduleUrl);
const { url, headers, twins, turns, prompt } = JSON.parse(planText);
const client = new Anthropic({
  baseURL: url,
  apiKey: "sk-test-0123456789abcdefghij",
  authToken: null,
  maxRetries: 0,
});

const schema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
const common = {
  model: "claude-opus-5-5",
  max_tokens: 2048,
  thinking: { type: "adaptive" },
  tools: [{ name: "add", description: "Adds two numbers.", input_schema: schema }],
  system: "Be brief.",
};

/** The next user message is the same for all twins: the results of its calls, or "go on". */
function nextMessage(messages) {
  const calls = (messages.at(-1)?.content ?? []).filter(({ type }) => type === "tool_use");
  const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "3" }));
  const text = messages.length === 0 ? prompt : "go on";
  return { role: "user", content: results.length > 0 ? results : [{ type: "text", text }] };
}

async function turn(messages, isStreamed) {
  messages.push(nextMessage(messages));
  const body = { ...common, messages };
  const { content } = isStreamed
    ? await client.messages.stream(body, { headers }).finalMessage()
    : await client.messages.create(body, { headers });
  messages.push({ role: "assistant", content });
}

const all = Array.from({ length: twins }, () => []);
for (let n = 0; n < turns; n += 1) await Promise.all(all.map((messages) => turn(messages, n % 2 === 0)));
for (const messages of all) console.log(JSON.stringify(messages));
