// A group chat in the terminal: two agents with characters of their own, and a private talk with each.
//
//   node examples/group-chat.mjs                     scripted, no key needed
//   ANTHROPIC_API_KEY=... node examples/group-chat.mjs
//
// Type to talk to both, `/dm ada hello` to talk to one alone; the end of the input ends it.
import { createInterface } from "node:readline";
import {
  anthropicProvider,
  createSpace,
  scriptedProvider,
  whenMentioned,
  withRetries,
} from "aperture/runtime";

const you = "you";
const characters = {
  ada: "You are an engineer. You answer in one dry sentence, with a number in it.",
  bea: "You are a poet. You answer in one sentence, and never with a number.",
};

/**
 * Repeats what it has been shown: enough to see that a private talk stays private.
 * @param {string} name
 */
function scripted(name) {
  return scriptedProvider(({ messages }) => {
    const texts = messages.flatMap(({ content }) => content.map(({ text }) => String(text)));
    const said = texts.flatMap((text) => /^\[\w+ "?you"?, message .*\]\n(.*)$/s.exec(text)?.[1] ?? []);
    return `${name === "ada" ? "Noted" : "How lovely"}. I heard you say: ${said.join(" / ")}`;
  });
}

const { ANTHROPIC_API_KEY: key, MODEL: model = "claude-sonnet-5" } = process.env;
const space = await createSpace({
  agents: Object.entries(characters).map(([name, system]) => ({
    name,
    system,
    provider: key ? withRetries(anthropicProvider({ apiKey: key })) : scripted(name),
    model,
    // In the group it waits for its name, or for words that name nobody; alone with you it always answers.
    wakes: (said) =>
      said.stream === `dm ${name}` ||
      (said.stream === "group" && (whenMentioned(name)(said) || !namesSomebody(said))),
  })),
});

/** @param {import("aperture/runtime").Said} said */
function namesSomebody(said) {
  return Object.keys(characters).some((name) => whenMentioned(name)(said));
}

// What an agent says is shown as it comes. Two may speak at once, so each line is held until it is whole.
/** @type {Map<string, string>} */
const begun = new Map();
/** @param {{ stream: string, agent: string }} event */
const by = ({ stream, agent }) => `${stream === "group" ? "" : "(private) "}${agent}: `;
space.on("heard", (event) => {
  const lines = `${begun.get(by(event)) ?? ""}${event.text}`.split("\n");
  begun.set(by(event), lines.pop() ?? "");
  for (const line of lines) console.log(`${by(event)}${line}`);
});
space.on("anew", (event) => begun.delete(by(event)));
space.on("finished", (event) => {
  const rest = begun.get(by(event));
  if (rest) console.log(`${by(event)}${rest}`);
  begun.delete(by(event));
});
space.on("notice", ({ text }) => console.log(`! ${text}`));

const group = space.stream("group");
const input = createInterface({
  input: process.stdin,
  output: process.stdout,
  terminal: process.stdin.isTTY ?? false,
});
input.setPrompt(process.stdin.isTTY ? "> " : "");
input.prompt();
for await (const line of input) {
  const [, name, text = ""] = /^\/dm (\S+) (.+)$/.exec(line) ?? [];
  if (name !== undefined && !Object.hasOwn(characters, name)) console.log(`There is no ${name} here.`);
  else if (name !== undefined) await space.stream(`dm ${name}`).say(you, text);
  else if (line.trim() !== "") await group.say(you, line);
  await space.idle();
  input.prompt();
}
await space.close();
