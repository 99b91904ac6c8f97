// Texts that make a careless index slow. `npm run bench -- speed` measures the time they take.
import { expect, test } from "vitest";
import { blockId, turnOf } from "../../src/base/index.ts";
import { LexicalIndex } from "../../src/recall/index.ts";

const hostile: Readonly<Record<string, string>> = {
  "one word": "a".repeat(200_000),
  "one letter and signs": "a/".repeat(100_000),
  capitals: "aB".repeat(100_000),
  underscores: "_".repeat(200_000),
  "short names": "aB_9 ".repeat(40_000),
  accents: `e${"\u0301".repeat(200_000)}`,
  "accented words": "e\u0301\u0301\u0301a ".repeat(40_000),
  "no blanks": "漢字".repeat(100_000),
  pairs: "𠀀".repeat(100_000),
  emoji: "😀".repeat(100_000),
  halves: "\ud83d".repeat(200_000),
  lines: "\n".repeat(200_000),
  "many names": Array.from({ length: 20_000 }, (_, number) => `name_${number}`).join(" "),
};

test.each(Object.entries(hostile))("a text of %s is added, and another is found beside it", (_, text) => {
  const index = new LexicalIndex();
  const source = { kind: "tool-result", turn: turnOf(1), speaker: "client" } as const;
  index.add({ ...source, block: blockId(1), text });
  index.add({ ...source, block: blockId(2), text: "see src/keeper/lighthouse.ts" });
  index.find(text.slice(0, 200), { max: 5, now: turnOf(2) });
  const [found] = index.find("lighthouse.ts", { max: 5, now: turnOf(2) });
  expect(found?.block).toBe(2);
});
