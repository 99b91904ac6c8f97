import { type Reply, type ReplyBlock, ruleAgent, type ScriptedModel } from "../../src/testing/index.ts";

/** What a model can see of a request of its own. */
export type Seen = {
  /** The numbers of large tool results, oldest first. */
  readonly results: readonly number[];
  /** The numbers of notes, oldest first. */
  readonly notes: readonly number[];
};
type Saying = ReplyBlock | ((seen: Seen) => ReplyBlock);
/** What it says to a prompt, sampling by sampling. */
export type Stage = readonly (readonly Saying[])[];

type Request = Parameters<ScriptedModel>[0];

/**
 * A model that knows what to do at each stage, and does it whoever asks: the prompt only names the stage, so
 * that nothing of it stands in what a client writes. Everything else is answered by the usual agent.
 */
export function handsModel(stages: readonly Stage[]): ScriptedModel {
  const other = ruleAgent();
  return (request, n) => {
    const at = request.messages.findLastIndex((message) => stageIn(message) !== null);
    const stage = at === -1 ? undefined : stages[stageIn(request.messages[at]) ?? -1];
    if (stage === undefined || request.tools.length === 0) return other(request, n);
    const since = request.messages.slice(at);
    const done = since.filter(
      ({ role, content }) => role === "assistant" && content.some(({ type }) => type === "tool_use"),
    ).length;
    return replyOf(request, stage[done] ?? [{ type: "text", text: `sampling ${done} was not expected` }]);
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

function replyOf(request: Request, sayings: readonly Saying[]): Reply {
  const seen = seenIn(JSON.stringify(request.messages));
  const said = sayings.map((saying) => (typeof saying === "function" ? saying(seen) : saying));
  const thinks = ["enabled", "adaptive"].includes(String(request.thinking?.["type"]));
  return { content: thinks ? [{ type: "thinking", thinking: `Thought ${said.length}.` }, ...said] : said };
}

function seenIn(text: string): Seen {
  const numbers = (pattern: RegExp): readonly number[] => [
    ...new Set([...text.matchAll(pattern)].map(([, number]) => Number(number))),
  ];
  return { results: numbers(/#(\d+) result /g), notes: numbers(/Noted as #(\d+)/g) };
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

/** A call of ours. */
function ours(verb: string, input: (seen: Seen) => Readonly<Record<string, string>> = () => ({})) {
  const name = `aperture_${tools[verb] ?? "manage"}`;
  return (seen: Seen): ReplyBlock => ({ type: "tool_use", name, input: { verb, ...input(seen) } });
}

const first = ({ results }: Seen): string => `#${results[0] ?? 0}`;
const second = ({ results }: Seen): string => `#${results[1] ?? 0}`;
const text = (words: string): ReplyBlock => ({ type: "text", text: words });

/**
 * Every verb, alone and beside the client's own tools: before them, behind them and on both sides, in one
 * round and in several, with words before and after.
 */
export function everyVerb(look: (n: number) => ReplyBlock): readonly Stage[] {
  const archive = ours("archive", (seen) => ({ target: second(seen), reason: archiveReason }));
  const compress = ours("compress", (seen) => ({ target: first(seen), level: "trimmed" }));
  const create = ours("create", () => ({ text: "The pages hold lines of words.", topic: "pages" }));
  const update = ours("update", ({ notes }) => ({
    text: "The pages hold lines of words, and numbers.",
    supersedes: `${notes.at(-1) ?? 0}`,
  }));
  const on = (verb: string) => ours(verb, (seen) => ({ target: first(seen) }));
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
