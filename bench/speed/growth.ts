import { blockId, turnOf } from "../../src/base/index.ts";
import { CommandLineFilter, isTainting, parseCommand, taintEnd } from "../../src/commands/index.ts";
import { valueRangeAt } from "../../src/protocols/json-scan.ts";
import { LexicalIndex } from "../../src/recall/index.ts";
import { diffRecipe } from "../../src/store/recipe-diff.ts";
import { type ExactCounter, estimateText, loadO200k } from "../../src/tokens/index.ts";
import { compare, keep } from "../measure.ts";
import type { BenchOptions, Cell } from "../report.ts";

const nonce = "k7f3";

type TextReader = {
  readonly name: string;
  readonly read: (text: string) => unknown;
  /** Texts that make a careless reader slow, each repeated up to the length. */
  readonly pieces: readonly string[];
  readonly chars: number;
};

function readers(count: ExactCounter): readonly TextReader[] {
  const chars = 200_000;
  return [
    {
      name: "lines of commands",
      read: filterCommands,
      pieces: ["\n", "x\n", "- a\n", "`\n", "> \n", "<b>\n", "```\n", "@pin(\n", "- ", "``", "a`@p"],
      chars,
    },
    {
      name: "a command",
      read: (text) => parseCommand(`@pin(${text})`),
      pieces: ["(", '"', "1,", "..", " ", "\\"],
      chars,
    },
    {
      name: "tainting forms",
      read: (text) => isTainting(text, nonce),
      pieces: ["@", "@pin", "@pin    ", "aperture_", "block-", "k7f", "k\u200b", "@expan", "\u200b", "ﷺ"],
      chars,
    },
    { name: "the end of a tainting form", read: (text) => taintEnd(text, nonce), pieces: ["é @pi ("], chars },
    {
      name: "a JSON string",
      read: (text) => valueRangeAt(Buffer.from(`"${text}"`), 0),
      pieces: ["\\\\", "x"],
      chars: 2_000_000,
    },
    { name: "a body against an equal one", read: diffWithZeros, pieces: ["\u0000", "\u0000\u0001"], chars },
    {
      name: "estimated tokens",
      read: (text) => estimateText(text, "claude-opus-4-5"),
      pieces: ["a", " ", "7", "\n", "漢", "😀", "aB"],
      chars,
    },
    {
      name: "counted tokens",
      read: count,
      pieces: ["我们在昨天的会议上讨论了新的项目计划", "x", " "],
      chars: 20_000,
    },
    {
      name: "a block for recall",
      read: addForRecall,
      pieces: ["a", "a/", "aB", "_", "aB_9 ", "e\u0301\u0301\u0301a ", "漢字", "😀", "\ud83d", "\n"],
      chars,
    },
  ];
}

function filterCommands(text: string): number {
  const filter = new CommandLineFilter(nonce);
  return filter.push(text).passed.length + filter.end().passed.length;
}

function diffWithZeros(text: string): unknown {
  const next = Buffer.from(text);
  const previous = { exchange: 1, side: "client-request", bytes: Buffer.alloc(next.length) } as const;
  return diffRecipe({ previous, next, slices: [] });
}

function addForRecall(text: string): unknown {
  const index = new LexicalIndex();
  index.add({ block: blockId(1), kind: "tool-result", turn: turnOf(1), speaker: "client", text });
  return index.find(text.slice(0, 200), { max: 5, now: turnOf(2) });
}

/** The time of a text of twice the length: 2 if it grows with the length, 4 with its square. */
export async function* growthCells({ quick }: BenchOptions): AsyncGenerator<Cell> {
  for (const { name, read, pieces, chars } of readers(await loadO200k())) {
    const length = quick ? chars / 20 : chars;
    const ratios = pieces.map((piece) => {
      const [short, long] = [1, 2].map((times) => piece.repeat(Math.ceil((times * length) / piece.length)));
      const { ratio } = compare(
        () => keep(read(short ?? "")),
        () => keep(read(long ?? "")),
        quick ? 1 : 9,
      );
      return { piece, ratio };
    });
    const worst = ratios.reduce((a, b) => (b.ratio > a.ratio ? b : a));
    yield {
      name: `reading ${name}: twice the length / once`,
      figure: worst.ratio,
      boundMax: 3,
      unit: "x",
      note: `${pieces.length} texts, the slowest of ${JSON.stringify(worst.piece)}`,
    };
  }
}
