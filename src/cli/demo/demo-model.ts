import { type ScriptMessage, stepModel } from "../../testing/index.ts";
import { type SeenResults, type StoryRun, story } from "./demo-story.ts";

/** The scripted model. It finds its position in the story from the conversation, like any model. */
export const demoModel = stepModel((messages) => {
  const at = messages.findLastIndex((message) => runIn(message) !== undefined);
  const step = runIn(messages[at])?.steps[stepsSince(messages, at)];
  if (step === undefined) return { say: "There is nothing left to tell." };
  const seen = seenIn(messages);
  return { say: step.say, calls: step.calls.map(({ name, input }) => ({ name, input: input(seen) })) };
});

function runIn(message: ScriptMessage | undefined): StoryRun | undefined {
  if (message?.role !== "user") return undefined;
  return story.find(({ prompt }) => message.texts.includes(prompt));
}

function stepsSince(messages: readonly ScriptMessage[], at: number): number {
  return messages.slice(at).filter(({ role, hasCalls }) => role === "assistant" && hasCalls).length;
}

/** Headers contain the numbers of large results. */
function seenIn(messages: readonly ScriptMessage[]): SeenResults {
  const text = messages.flatMap(({ strings }) => strings).join("\n");
  const headers = text.matchAll(/#(\d+) result /g);
  return { results: [...new Set([...headers].map(([, number]) => Number(number)))] };
}
