// An agent in the middle of a tool round, to be killed. Usage: node crash-child.mjs DIST DATABASE JOURNAL
import { appendFileSync } from "node:fs";

const [, , dist, path, journal] = process.argv;
const { toolCall, createSpace, defineTool, scriptedProvider } = await import(`${dist}/runtime/index.js`);

const word = { type: "object", properties: {}, required: [] };
const tool = (name, run) =>
  defineTool({
    name,
    description: name,
    input: word,
    run: async () => {
      appendFileSync(journal, `${name}\n`);
      return await run();
    },
  });
const tools = [
  tool("first", () => "first done"),
  tool("second", () => new Promise((resolve) => setTimeout(() => resolve("second done"), 60_000))),
  tool("third", () => "third done"),
];

/** Calls all three tools once, then answers with their results. */
const provider = scriptedProvider(({ messages }) => {
  const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"));
  if (results.length === 0) return [toolCall("first"), toolCall("second"), toolCall("third")];
  return `I got: ${results.map(({ content }) => content).join(" | ")}`;
});
const agent = { name: "ada", provider, model: "claude-sonnet-5", tools };
const space = await createSpace({ path, name: "crash", agents: [agent] });
let done = 0;
space.on("tool", ({ is }) => {
  if (is === "done") done += 1;
  if (done === 2) console.log("waiting");
});
space.on("said", ({ speaker, text }) => {
  if (speaker === "ada") console.log(`said ${text}`);
});
const isNew = space.moment.seq < 3;
const stream = space.stream("desk");
if (isNew) {
  await stream.say("bob", "do all three");
  await stream.activate("ada");
}
await space.idle();
await new Promise((resolve) => setTimeout(resolve, 50));
await space.close();
console.log("closed");
