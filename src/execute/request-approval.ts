import { type BlockId, hashContent, limits } from "../base/index.ts";
import { type Command, type CommandPlan, parseCommand, printCommand } from "../commands/index.ts";
import { textContent } from "../content/index.ts";
import type { BlockSpan, Delta } from "../engine/frames/index.ts";
import { type ChangeContext, ruleChanges } from "../engine/index.ts";
import type { ApprovalState } from "../engine/moment/index.ts";
import { contentText } from "../protocols/index.ts";
import type { HashedContent, Store } from "../store/index.ts";

/** Deltas that ask for approval, and the texts that the commands carry. */
export type ApprovalDeltas = {
  readonly deltas: readonly Delta[];
  readonly contents: readonly HashedContent[];
};

/** Stands in a printed command for the text it carries, which is stored as a content. */
const textPlaceholder = "(text)";

/** Makes the approval requests for the parts of a command that wait for the user. */
export function requestApprovals(
  change: ChangeContext,
  command: Command,
  { proposal, source }: { readonly proposal: CommandPlan["proposal"]; readonly source: BlockSpan | null },
): ApprovalDeltas {
  const bytes = "text" in command ? textContent(command.text) : null;
  const text = bytes === null ? null : hashContent(bytes);
  const deltas = ruleChanges.askApprovals(
    change,
    proposal.approvals.map(({ blocks, why, tokens }) => ({
      verb: command.verb,
      command: printForApproval(command, blocks),
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

/** The command without its text; if its target is too long to print, with a range of its blocks instead. */
function printForApproval(command: Command, blocks: readonly BlockId[]): string {
  const withoutText = "text" in command ? { ...command, text: textPlaceholder } : command;
  const text = printCommand(withoutText);
  if (text.length <= limits.commandCharsMax || !("target" in withoutText)) return text;
  const [first = 1, last = first] = [Math.min(...blocks), Math.max(...blocks)];
  return printCommand({ ...withoutText, target: [{ by: "block", first, last }] });
}

/**
 * The approved command, for exactly the blocks of its request: pointers such as `stale` may mean other blocks
 * by now. Null if its text cannot be read any more.
 */
export async function approvedCommand(
  approval: ApprovalState,
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
  const text = stored.ok ? contentText(stored.value, { form: "part" }) : null;
  return text === null ? null : { ...command, text };
}
