// A program that uses ai and @ai-sdk/anthropic. Arguments: the URLs of the two packages, and the address of
// the API. Every step prints one line of JSON: its name and its result.
const [, , aiUrl = "", anthropicUrl = "", baseURL = ""] = process.argv;
const { generateText, jsonSchema, stepCountIs, streamText, tool } = await import(aiUrl);
const { createAnthropic } = await import(anthropicUrl);
const anthropic = createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: "sk-test-0123456789abcdefghij" });

const add = tool({
  description: "Adds two numbers.",
  inputSchema: jsonSchema({ type: "object", properties: { a: { type: "number" }, b: { type: "number" } } }),
  execute: ({ a, b }) => String(a + b),
});
const ephemeral = { anthropic: { cacheControl: { type: "ephemeral" } } };
const common = {
  model: anthropic("claude-opus-4-8"),
  tools: { add },
  stopWhen: stepCountIs(6),
  maxRetries: 0,
  system: "Be brief.",
  providerOptions: { anthropic: { thinking: { type: "adaptive" } } },
};
const sums = [
  "say I add these",
  'call add {"a":1,"b":2} & add {"a":3,"b":4}',
  'call add {"a":5,"b":6}',
  "say the sums are 3, 7 and 11",
].join("\n");

const printStep = (step, value) => console.log(JSON.stringify({ step, value }));

async function streamed(prompt) {
  const result = streamText({ ...common, ...prompt });
  let text = "";
  for await (const piece of result.textStream) text += piece;
  return { text, messages: (await result.response).messages };
}

const question = { role: "user", content: sums, providerOptions: ephemeral };
const plain = await generateText({ ...common, prompt: "say a plain answer: ä, 漢字, 🙂" });
printStep("plain", plain.text);
const looped = await generateText({ ...common, messages: [question] });
printStep("loop", looped.text);
const next = { role: "user", content: "say the next answer", providerOptions: ephemeral };
const second = await generateText({ ...common, messages: [question, ...looped.response.messages, next] });
printStep("second turn", second.text);
const first = await streamed({ messages: [question] });
printStep("streamed loop", first.text);
printStep("streamed second turn", (await streamed({ messages: [question, ...first.messages, next] })).text);
