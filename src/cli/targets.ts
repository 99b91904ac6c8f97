import { type Outcome, stop, succeed } from "./outcome.ts";
import { exitCodes } from "./usage.ts";

/** What a person may point at, as it is written: `12`, `#12`, `12..18`, `block-12`, `message-10..25`. */
export type Target = { readonly of: "block" | "message"; readonly first: number; readonly last: number };

const written = /^(?:(block|message)-|#)?([1-9]\d{0,14})(?:\.\.(?:\1-|#)?([1-9]\d{0,14}))?$/;

export function readTarget(word: string): Target | null {
  const [, of = "block", first, last = first] = written.exec(word) ?? [];
  if (first === undefined || Number(last) < Number(first)) return null;
  return { of: of === "message" ? "message" : "block", first: Number(first), last: Number(last) };
}

/** More than anybody means; the API takes no more either. */
const blocksMax = 1_000;

export function readBlocks(words: readonly string[]): Outcome<readonly number[]> {
  const blocks: number[] = [];
  for (const word of words) {
    const target = readTarget(word);
    if (target?.of !== "block") return stop(exitCodes.usage, noBlock(word));
    const count = target.last - target.first + 1;
    if (blocks.length + count > blocksMax) {
      return stop(exitCodes.usage, `These are more than ${blocksMax} blocks; select fewer.`);
    }
    blocks.push(...Array.from({ length: count }, (_, at) => target.first + at));
  }
  return succeed([...new Set(blocks)]);
}

function noBlock(word: string): string {
  return `"${word}" is no block: write 12, 12..18, block-12 or '#12', as the numbers of \`aperture blocks\`.`;
}

/** As a path of the API asks for it. */
export function readExpandable(word: string): Outcome<Readonly<Record<string, string>>> {
  const target = readTarget(word);
  if (target === null) {
    return stop(
      exitCodes.usage,
      `"${word}" cannot be expanded: write 27, '#27', message-10 or message-10..25.`,
    );
  }
  const { of, first, last } = target;
  if (of === "message") return succeed({ messages: `${first}..${last}` });
  if (last === first) return succeed({ block: `${first}` });
  return stop(
    exitCodes.usage,
    "expand reads one block, or the blocks of a range of messages: message-10..25.",
  );
}

/** As a target of a command is written: what a shell took the quotes from gets them back. */
export function targetWord(word: string): string {
  return /^[#\w.:-]+$/.test(word) ? word : JSON.stringify(word);
}
