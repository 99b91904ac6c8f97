import type { ReplyBlock, ScriptedModel } from "../../testing/index.ts";
import { type Seen, type StoryStep, story } from "./story.ts";

type Request = Parameters<ScriptedModel>[0];

/** The model of the demo: where in the story it is, it reads from the talk, as any model would. */
export const demoModel: ScriptedModel = (request) => {
  const at = request.messages.findLastIndex((message) => runIn(message) !== undefined);
  const step = runIn(request.messages[at])?.steps[stepsSince(request, at)];
  const said = step === undefined ? [] : blocksOf(step, seenIn(request));
  return { content: said.length === 0 ? [{ type: "text", text: "There is nothing left to tell." }] : said };
};

function runIn(message: Request["messages"][number] | undefined) {
  if (message?.role !== "user") return undefined;
  const texts = message.content.map(({ text }) => (typeof text === "string" ? text : ""));
  return story.find(({ prompt }) => texts.includes(prompt));
}

function stepsSince({ messages }: Request, at: number): number {
  const isStep = ({ role, content }: Request["messages"][number]): boolean =>
    role === "assistant" && content.some(({ type }) => type === "tool_use");
  return messages.slice(at).filter(isStep).length;
}

function blocksOf({ say, calls }: StoryStep, seen: Seen): readonly ReplyBlock[] {
  const called = calls.map(({ name, input }): ReplyBlock => ({ type: "tool_use", name, input: input(seen) }));
  return [{ type: "text", text: say }, ...called];
}

/** Headers tell the numbers of large results. */
function seenIn({ messages }: Request): Seen {
  const told = JSON.stringify(messages).matchAll(/#(\d+) result /g);
  return { results: [...new Set([...told].map(([, number]) => Number(number)))] };
}
