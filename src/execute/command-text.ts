import type { BlockId } from "../base/index.ts";
import type { Command, CommandProposal } from "../commands/index.ts";

/** The result of a command, for the actor that asked for it. */
export type CommandReport = {
  readonly command: Command;
  readonly proposal: CommandProposal;
  readonly changed: readonly BlockId[];
  readonly freedTokens: number;
  /** Lines about memories that were added, and about the older ones they cover. */
  readonly memories: readonly string[];
  /** The texts of its lookups. */
  readonly texts: readonly string[];
};

const doneWords: Readonly<Record<Command["verb"], string>> = {
  expand: "expanded",
  recall: "recalled",
  compress: "will be shown shorter",
  pin: "pinned",
  unpin: "unpinned",
  focus: "in focus until the end of this run",
  archive: "archived",
  update: "updated",
  create: "noted",
  diff: "compared",
  manifest: "listed",
};

/** One line for each thing that happened, then the texts that were looked up. */
export function commandReportText(report: CommandReport): string {
  const { command, proposal, changed, freedTokens, memories, texts } = report;
  const { verb } = command;
  const freed = freedTokens > 0 ? `, about ${freedTokens} tokens less at the next rewrite` : "";
  const done = changed.length === 0 ? [] : [`${idsOf(changed)} ${doneWords[verb]}${freed}.`];
  const waits = proposal.approvals.map(({ blocks, why }) => {
    const what = blocks.length === 0 ? "This" : idsOf(blocks);
    return `${what} waits for the user: ${why}. You will be told the outcome; go on without it.`;
  });
  const refused = proposal.refused === null ? [] : [proposal.refused.message];
  const skipped = proposal.skipped.map(({ error }) => error.message);
  const lines = [...done, ...memories, ...waits, ...refused, ...new Set(skipped)];
  const reminder = proposal.reminder === null ? [] : [proposal.reminder];
  const all = [...lines, ...texts, ...reminder];
  return all.length === 0 ? nothingChanged : all.join("\n");
}

const nothingChanged = "Nothing changed: it is so already.";

const idsShown = 12;

function idsOf(blocks: readonly BlockId[]): string {
  const shown = blocks.slice(0, idsShown).map((id) => `#${id}`);
  const more = blocks.length > idsShown ? ` and ${blocks.length - idsShown} more` : "";
  return `${shown.join(", ")}${more}`;
}
