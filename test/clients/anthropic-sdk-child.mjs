// A program that uses @anthropic-ai/sdk. Arguments: the URL of the package, and the address of the API. Every
// step prints one line of JSON: its name and its result.
const [, , moduleUrl = "", baseURL = ""] = process.argv;
const { Anthropic } = await import(moduleUrl);
const client = new Anthropic({
  baseURL,
  apiKey: "sk-test-0123456789abcdefghij",
  authToken: null,
  maxRetries: 0,
});

const schema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
const add = { name: "add", description: "Adds two numbers.", input_schema: schema };
const common = { model: "claude-opus-5-5", max_tokens: 2048, thinking: { type: "adaptive" }, tools: [add] };
const sums = [
  "say I add these",
  'call add {"a":1,"b":2} & add {"a":3,"b":4}',
  'call add {"a":5,"b":6}',
  "say the sums are 3, 7 and 11",
].join("\n");

const textOf = ({ content }) =>
  content
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("");
const sumOf = ({ a, b }) => String(a + b);
const printStep = (step, value) => console.log(JSON.stringify({ step, value }));

/** The loop of every agent: call the model, run its tool calls, send the results back. */
async function loop(ask) {
  const messages = [{ role: "user", content: sums }];
  for (;;) {
    const message = await ask({ ...common, system: "Be brief.", messages });
    messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) return textOf(message);
    const results = calls.map(({ id, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: sumOf(input),
    }));
    messages.push({ role: "user", content: results });
  }
}

async function runner(options) {
  const tool = { ...add, run: sumOf, parse: (input) => input };
  const messages = [{ role: "user", content: sums }];
  return textOf(await client.beta.messages.toolRunner({ ...common, ...options, tools: [tool], messages }));
}

async function refused() {
  try {
    await client.messages.create({ ...common, messages: [] });
    return "accepted";
  } catch (error) {
    return `${error.status} ${error.error?.error?.type}`;
  }
}

const plain = { ...common, messages: [{ role: "user", content: "say a plain answer: ä, 漢字, 🙂" }] };
printStep("plain", textOf(await client.messages.create(plain)));
printStep("streamed", textOf(await client.messages.stream(plain).finalMessage()));
printStep("loop", await loop((request) => client.messages.create(request)));
printStep("streamed loop", await loop((request) => client.messages.stream(request).finalMessage()));
const { max_tokens: _, ...counted } = plain;
printStep("counted", (await client.messages.countTokens(counted)).input_tokens > 0);
printStep("runner", await runner({ stream: false }));
printStep("streamed runner", await runner({ stream: true }));
printStep("refused", await refused());
