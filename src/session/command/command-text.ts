import type { BlockId } from "../../base/index.ts";
import type { Command, Proposed } from "../../commands/index.ts";

/** What a command came to, told to whoever asked for it. */
export type Told = {
  readonly command: Command;
  readonly proposed: Proposed;
  /** Blocks that were changed. */
  readonly changed: readonly BlockId[];
  readonly freedTokens: number;
  /** Memories that were added, and what became of what they say anew. */
  readonly remembered: readonly string[];
  /** What was read. */
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

/** One line for each thing that happened, then what was asked for. */
export function toldText({ command, proposed, changed, freedTokens, remembered, texts }: Told): string {
  const { verb } = command;
  const freed = freedTokens > 0 ? `, about ${freedTokens} tokens less at the next rewrite` : "";
  const done = changed.length === 0 ? [] : [`${idsOf(changed)} ${doneWords[verb]}${freed}.`];
  const waits = proposed.asks.map(({ blocks, why }) => {
    const what = blocks.length === 0 ? "This" : idsOf(blocks);
    return `${what} waits for the user: ${why}. You will be told the outcome; go on without it.`;
  });
  const refused = proposed.refused === null ? [] : [proposed.refused.message];
  const skipped = proposed.skipped.map(({ error }) => error.message);
  const lines = [...done, ...remembered, ...waits, ...refused, ...new Set(skipped)];
  const reminder = proposed.reminder === null ? [] : [proposed.reminder];
  const all = [...lines, ...texts, ...reminder];
  return all.length === 0 ? nothing : all.join("\n");
}

const nothing = "Nothing changed: it is so already.";

const idsShown = 12;

function idsOf(blocks: readonly BlockId[]): string {
  const shown = blocks.slice(0, idsShown).map((id) => `#${id}`);
  const more = blocks.length > idsShown ? ` and ${blocks.length - idsShown} more` : "";
  return `${shown.join(", ")}${more}`;
}
