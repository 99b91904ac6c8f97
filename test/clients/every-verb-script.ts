import { type ModelReply, type ReplyBlock, ruleAgent, type ScriptedModel } from "../../src/testing/index.ts";

/** The block numbers that a model can read from its request. */
export type VisibleNumbers = {
  /** The numbers of large tool results, oldest first. */
  readonly results: readonly number[];
  /** The numbers of memories, oldest first. */
  readonly memories: readonly number[];
};
type ScriptedBlock = ReplyBlock | ((visible: VisibleNumbers) => ReplyBlock);
/** The replies to one prompt, round by round. */
export type Stage = readonly (readonly ScriptedBlock[])[];

type Request = Parameters<ScriptedModel>[0];

/**
 * A model that plays the replies of a stage. The prompt only names the stage, so that a client's transcript
 * holds none of our tools because of its prompts. The usual agent answers other requests.
 */
export function stagedModel(stages: readonly Stage[]): ScriptedModel {
  const fallback = ruleAgent();
  return (request, n) => {
    const at = request.messages.findLastIndex((message) => stageIn(message) !== null);
    const stage = at === -1 ? undefined : stages[stageIn(request.messages[at]) ?? -1];
    if (stage === undefined || request.tools.length === 0) return fallback(request, n);
    const since = request.messages.slice(at);
    const done = since.filter(
      ({ role, content }) => role === "assistant" && content.some(({ type }) => type === "tool_use"),
    ).length;
    return replyOf(request, stage[done] ?? [{ type: "text", text: `round ${done} was not expected` }]);
  };
}

function stageIn(message: Request["messages"][number] | undefined): number | null {
  if (message?.role !== "user") return null;
  for (const { type, text } of message.content) {
    const found = type === "text" ? /^"?stage (\d+)"?$/m.exec(String(text)) : null;
    if (found !== null) return Number(found[1]);
  }
  return null;
}

function replyOf(request: Request, script: readonly ScriptedBlock[]): ModelReply {
  const visible = visibleNumbers(JSON.stringify(request.messages));
  const blocks = script.map((block) => (typeof block === "function" ? block(visible) : block));
  const isThinking = ["enabled", "adaptive"].includes(String(request.thinking?.["type"]));
  const thought = { type: "thinking", thinking: `Thought ${blocks.length}.` } as const;
  return { content: isThinking ? [thought, ...blocks] : blocks };
}

function visibleNumbers(text: string): VisibleNumbers {
  const numbers = (pattern: RegExp): readonly number[] => [
    ...new Set([...text.matchAll(pattern)].map(([, number]) => Number(number))),
  ];
  return { results: numbers(/#(\d+) result /g), memories: numbers(/Noted as #(\d+)/g) };
}

export const verbs = [
  ...["expand", "recall", "diff", "manifest"],
  ...["compress", "pin", "unpin", "focus", "archive", "create", "update"],
] as const;

export const archiveReason = "this page is done with";

const tools: Readonly<Record<string, string>> = {
  expand: "read",
  recall: "read",
  diff: "read",
  manifest: "read",
  archive: "archive",
  create: "note",
  update: "note",
};

type CommandInput = (visible: VisibleNumbers) => Readonly<Record<string, string>>;

/** A call of one of our tools. */
function ours(verb: string, input: CommandInput = () => ({})) {
  const name = `aperture_${tools[verb] ?? "manage"}`;
  return (visible: VisibleNumbers): ReplyBlock => ({
    type: "tool_use",
    name,
    input: { verb, ...input(visible) },
  });
}

const first = ({ results }: VisibleNumbers): string => `#${results[0] ?? 0}`;
const second = ({ results }: VisibleNumbers): string => `#${results[1] ?? 0}`;
const text = (content: string): ReplyBlock => ({ type: "text", text: content });

/**
 * Every verb, alone and beside the client's own tools: before them, behind them and on both sides, in one
 * round and in several, with text before and after.
 */
export function everyVerbStages(look: (n: number) => ReplyBlock): readonly Stage[] {
  const archive = ours("archive", (visible) => ({ target: second(visible), reason: archiveReason }));
  const compress = ours("compress", (visible) => ({ target: first(visible), level: "trimmed" }));
  const create = ours("create", () => ({ text: "The pages hold lines of words.", topic: "pages" }));
  const update = ours("update", ({ memories }) => ({
    text: "The pages hold lines of words, and numbers.",
    supersedes: `${memories.at(-1) ?? 0}`,
  }));
  const on = (verb: string) => ours(verb, (visible) => ({ target: first(visible) }));
  const recall = ours("recall", () => ({ target: "page lines" }));
  return [
    [[text("I look."), ours("manifest")], [text("stage 0 is done")]],
    [[look(1), ours("manifest")], [ours("diff"), look(2)], [text("stage 1 is done")]],
    [[text("both"), on("pin"), look(3), on("expand")], [on("unpin"), compress], [text("stage 2 is done")]],
    [[archive], [text("now"), recall], [text("stage 3 is done")]],
    [[create], [update], [on("focus")], [text("stage 4 is done")]],
    [[ours("diff"), recall, on("expand"), look(4), ours("manifest")], [text("stage 5 is done")]],
    [[text("stage 6 is done")]],
    [[text("last"), ours("manifest")], [ours("diff")], [text("really"), recall], [text("stage 7 is done")]],
  ];
}
