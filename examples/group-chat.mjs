// A group chat in the terminal: two agents with different characters, and a private conversation with each.
//
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
 * Repeats what it was shown: enough to see that a private conversation stays private.
 * @param {string} name
 */
function scripted(name) {
  return scriptedProvider(({ messages }) => {
    const texts = messages.flatMap(({ content }) => content.map(({ text }) => String(text)));
    const yours = texts.flatMap((text) => /^\[\w+ "?you"?, message .*\]\n(.*)$/s.exec(text)?.[1] ?? []);
    return `${name === "ada" ? "Noted" : "How lovely"}. I heard you say: ${yours.join(" / ")}`;
  });
}

const { ANTHROPIC_API_KEY: key, MODEL: model = "claude-sonnet-5" } = process.env;
const space = await createSpace({
  agents: Object.entries(characters).map(([name, system]) => ({
    name,
    system,
    provider: key ? withRetries(anthropicProvider({ apiKey: key })) : scripted(name),
    model,
    // In the group it answers to its name and to messages that name no agent; in private it always answers.
    wakes: (message) =>
      message.stream === `dm ${name}` ||
      (message.stream === "group" && (whenMentioned(name)(message) || !mentionsAnAgent(message))),
  })),
});

/** @param {import("aperture/runtime").SpokenText} message */
function mentionsAnAgent(message) {
  return Object.keys(characters).some((name) => whenMentioned(name)(message));
}

// Answers are printed as they arrive. Two agents may answer at once, so each line is held until it is
// complete.
/** @type {Map<string, string>} */
const partialLines = new Map();
/** @param {{ stream: string, agent: string }} event */
const labelOf = ({ stream, agent }) => `${stream === "group" ? "" : "(private) "}${agent}: `;
space.on("heard", (event) => {
  const lines = `${partialLines.get(labelOf(event)) ?? ""}${event.text}`.split("\n");
  partialLines.set(labelOf(event), lines.pop() ?? "");
  for (const line of lines) console.log(`${labelOf(event)}${line}`);
});
space.on("anew", (event) => partialLines.delete(labelOf(event)));
space.on("finished", (event) => {
  const rest = partialLines.get(labelOf(event));
  if (rest) console.log(`${labelOf(event)}${rest}`);
  partialLines.delete(labelOf(event));
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
