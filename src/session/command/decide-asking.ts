import { type BlockId, hashContent, limits } from "../../base/index.ts";
import { type Command, type Plan, parseCommand, printCommand } from "../../commands/index.ts";
import { type ApprovalNow, askApprovals, type Change, type Delta, type Excerpt } from "../../engine/index.ts";
import { textBlock } from "../../protocols/index.ts";
import type { Content, Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";

/** Questions for the user, and the texts they bring along. */
export type AskedOf = { readonly deltas: readonly Delta[]; readonly contents: readonly Content[] };

/** Stands in a command for the text it brings along, which is kept apart. */
const textMark = "(text)";

/** What waits for the user is put before the user. */
export function askedOf(
  change: Change,
  command: Command,
  { proposed, source }: { readonly proposed: Plan["proposed"]; readonly source: Excerpt | null },
): AskedOf {
  const bytes = "text" in command ? textBlock(command.text) : null;
  const text = bytes === null ? null : hashContent(bytes);
  const deltas = askApprovals(
    change,
    proposed.asks.map(({ blocks, why, tokens }) => ({
      verb: command.verb,
      command: printed(command, blocks),
      text,
      blocks,
      why,
      tokens: { count: tokens, exact: false },
      source,
    })),
  );
  return {
    deltas,
    contents: deltas.length === 0 || bytes === null || text === null ? [] : [{ hash: text, bytes }],
  };
}

/** As it was written, without its text; where that is too long for a question, the blocks it came to. */
function printed(command: Command, blocks: readonly BlockId[]): string {
  const said = "text" in command ? { ...command, text: textMark } : command;
  const text = printCommand(said);
  if (text.length <= limits.commandCharsMax || !("target" in said)) return text;
  const [first = 1, last = first] = [Math.min(...blocks), Math.max(...blocks)];
  return printCommand({ ...said, target: [{ by: "block", first, last }] });
}

/**
 * The command that was asked for, about exactly the blocks it was asked for: words such as `stale` may mean
 * others by now. Null where its text cannot be read any more.
 */
export async function approvedCommand(
  approval: ApprovalNow,
  store: Pick<Store, "content">,
): Promise<Command | null> {
  const parsed = parseCommand(approval.command);
  if (!parsed.ok) return null;
  const command = parsed.value;
  if ("target" in command) {
    return { ...command, target: approval.blocks.map((id) => ({ by: "block", first: id, last: id })) };
  }
  if (!("text" in command) || approval.text === null) return command;
  const stored = await store.content(approval.text);
  const text = stored.ok ? storedWords(stored.value, "memory") : null;
  return text === null ? null : { ...command, text };
}
