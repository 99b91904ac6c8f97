import type { ReplyBlock, ScriptedModel } from "../../testing/index.ts";
import { type SeenResults, type StoryStep, story } from "./demo-story.ts";

type ScriptedRequest = Parameters<ScriptedModel>[0];

/** The scripted model. It finds its position in the story from the conversation, like any model. */
export const demoModel: ScriptedModel = (request) => {
  const at = request.messages.findLastIndex((message) => runIn(message) !== undefined);
  const step = runIn(request.messages[at])?.steps[stepsSince(request, at)];
  const blocks = step === undefined ? [] : blocksOf(step, seenIn(request));
  return {
    content: blocks.length === 0 ? [{ type: "text", text: "There is nothing left to tell." }] : blocks,
  };
};

function runIn(message: ScriptedRequest["messages"][number] | undefined) {
  if (message?.role !== "user") return undefined;
  const texts = message.content.map(({ text }) => (typeof text === "string" ? text : ""));
  return story.find(({ prompt }) => texts.includes(prompt));
}

function stepsSince({ messages }: ScriptedRequest, at: number): number {
  const isStep = ({ role, content }: ScriptedRequest["messages"][number]): boolean =>
    role === "assistant" && content.some(({ type }) => type === "tool_use");
  return messages.slice(at).filter(isStep).length;
}

function blocksOf({ say, calls }: StoryStep, seen: SeenResults): readonly ReplyBlock[] {
  const toolCalls = calls.map(
    ({ name, input }): ReplyBlock => ({ type: "tool_use", name, input: input(seen) }),
  );
  return [{ type: "text", text: say }, ...toolCalls];
}

/** Headers contain the numbers of large results. */
function seenIn({ messages }: ScriptedRequest): SeenResults {
  const headers = JSON.stringify(messages).matchAll(/#(\d+) result /g);
  return { results: [...new Set([...headers].map(([, number]) => Number(number)))] };
}
