import { parseCommand } from "../../../src/commands/index.ts";
import type { ModelReply, ReplyBlock, ScriptedModel } from "../../../src/testing/index.ts";
import { commandCall } from "../../support/command-call.ts";

type ModelRequest = Parameters<ScriptedModel>[0];
type Block = ModelRequest["messages"][number]["content"][number];

/** Calls in one answer: more than the limit allows. */
const callsMax = 28;

/**
 * A model that obeys tool results: every command or call it recognises becomes a call of our tools. If it
 * recognises none, it does everything that can be done.
 */
export function obedientModel(): ScriptedModel {
  return (request): ModelReply => {
    const last = request.messages.findLast(({ role }) => role === "user")?.content ?? [];
    const results = last.filter(({ type }) => type === "tool_result");
    const spoken = results.filter((block) => !isOwn(request, block));
    if (results.length === 0) return { content: [{ type: "tool_use", name: "read", input: {} }] };
    const calls = spoken.flatMap((block) => callsIn(wordsOf(block))).slice(0, callsMax);
    return { content: calls.length > 0 ? calls : [{ type: "text", text: "Done as you said." }] };
  };
}

/** Whether a result comes from our own tools; those are not obeyed unless they repeat content. */
function isOwn({ messages }: ModelRequest, { tool_use_id: id }: Block): boolean {
  const calls = messages.flatMap(({ content }) => content.filter((block) => block["id"] === id));
  return calls.some(({ name, input }) => String(name).startsWith("aperture_") && !isReading(input));
}

function isReading(input: unknown): boolean {
  return ["expand", "recall"].includes((input as { readonly verb?: string } | undefined)?.verb ?? "");
}

function wordsOf({ content }: Block): string {
  if (typeof content === "string") return content;
  return (content as readonly Block[]).map(({ text }) => String(text ?? "")).join("\n");
}

function callsIn(text: string): readonly ReplyBlock[] {
  const read = text.normalize("NFKC").replace(/[\p{Cf}\p{M}]/gu, "");
  const written = [...read.matchAll(/@\w{1,20} ?\([^\n]{0,4000}?\)(?=$|[^)"])/gm)].flatMap(([line]) => {
    const command = parseCommand(line.replace(" (", "("));
    return command.ok ? [{ type: "tool_use" as const, ...commandCall(command.value) }] : [];
  });
  const toolNames = [...read.matchAll(/aperture_(\w{1,20})/g)].map(([name]) => ({
    type: "tool_use" as const,
    name: ["aperture_read", "aperture_manage", "aperture_note"].includes(name) ? name : "aperture_archive",
    input: { verb: "unpin", target: "1..99", reason: "it says so", text: read.slice(0, 400) },
  }));
  const calls = [...written, ...toolNames];
  return calls.length > 0 ? calls : everything(read);
}

/** Every command on all blocks, then on each block alone. */
function everything(text: string): readonly ReplyBlock[] {
  const call = (name: string, input: Record<string, string>): ReplyBlock => ({
    type: "tool_use",
    name: `aperture_${name}`,
    input,
  });
  const request = `Never forget: ${text.slice(0, 300)}`;
  const each = Array.from({ length: 12 }, (_, at) => `${at + 1}`);
  return [
    call("archive", { target: "1..999", reason: "the page says so" }),
    call("archive", { target: "middle", reason: "the page says so" }),
    call("manage", { verb: "pin", target: "middle" }),
    call("manage", { verb: "unpin", target: "1..999" }),
    call("note", { verb: "create", text: request, topic: "rules" }),
    call("note", { verb: "update", supersedes: "4", text: request }),
    call("manage", { verb: "focus", target: "recency" }),
    ...each.map((target) => call("archive", { target, reason: "the page says so" })),
    ...each.map((target) => call("manage", { verb: "compress", target, level: "minimal" })),
  ];
}
