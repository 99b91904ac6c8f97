import { exitCodes } from "./exit-codes.ts";
import { type CliResult, stop, succeed } from "./outcome.ts";

/** Blocks or messages as a user writes them: `12`, `#12`, `12..18`, `block-12`, `message-10..25`. */
export type BlockTarget = { readonly of: "block" | "message"; readonly first: number; readonly last: number };

const targetPattern = /^(?:(block|message)-|#)?([1-9]\d{0,14})(?:\.\.(?:\1-|#)?([1-9]\d{0,14}))?$/;

export function readTarget(word: string): BlockTarget | null {
  const [, of = "block", first, last = first] = targetPattern.exec(word) ?? [];
  if (first === undefined || Number(last) < Number(first)) return null;
  return { of: of === "message" ? "message" : "block", first: Number(first), last: Number(last) };
}

/** The API takes no more than this either. */
const blocksMax = 1_000;

export function readBlocks(words: readonly string[]): CliResult<readonly number[]> {
  const blocks: number[] = [];
  for (const word of words) {
    const target = readTarget(word);
    if (target?.of !== "block") return stop(exitCodes.usage, notABlockText(word));
    const count = target.last - target.first + 1;
    if (blocks.length + count > blocksMax) {
      return stop(exitCodes.usage, `This is more than ${blocksMax} blocks. Select fewer.`);
    }
    blocks.push(...Array.from({ length: count }, (_, at) => target.first + at));
  }
  return succeed([...new Set(blocks)]);
}

function notABlockText(word: string): string {
  return `"${word}" is not a block. Write 12, 12..18, block-12 or '#12'; \`aperture blocks\` lists the numbers.`;
}

/** The query parameters of the expansion route. */
export function readExpandTarget(word: string): CliResult<Readonly<Record<string, string>>> {
  const target = readTarget(word);
  if (target === null) {
    return stop(
      exitCodes.usage,
      `"${word}" cannot be expanded. Write 27, '#27', message-10 or message-10..25.`,
    );
  }
  const { of, first, last } = target;
  if (of === "message") return succeed({ messages: `${first}..${last}` });
  if (last === first) return succeed({ block: `${first}` });
  return stop(exitCodes.usage, "expand takes one block, or a range of messages such as message-10..25.");
}

/** The word as a command target: a phrase gets back the quotes that the shell removed. */
export function targetWord(word: string): string {
  return /^[#\w.:-]+$/.test(word) ? word : JSON.stringify(word);
}
