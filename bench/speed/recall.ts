import { blockId, seededRandom, turnOf } from "../../src/base/index.ts";
import { LexicalIndex } from "../../src/recall/index.ts";
import { compare, keep, quantile } from "../measure.ts";
import { type BenchOptions, type Cell, countText } from "../report.ts";

const verbs = ["read", "write", "parse", "render", "follow", "count", "cut", "find", "drop", "keep"];
const things = ["Request", "Answer", "Block", "Frame", "Unit", "Ledger", "Header", "Name", "Store", "Line"];
const plain = ["the", "of", "error", "return", "const", "when", "value", "file", "test", "is", "not", "and"];

/** Finding by the index against looking through all texts. */
export function recallCell({ quick }: BenchOptions): Cell {
  const blocks = quick ? 500 : 10_000;
  const random = seededRandom(5);
  const pick = <T>(some: readonly T[]): T => some[random.below(some.length)] as T;
  const lineOf = (): string => {
    const name = `${pick(verbs)}${pick(things)}${random.below(2_000)}`;
    const words = Array.from({ length: 6 }, () => pick(plain)).join(" ");
    return `src/${pick(verbs)}/${pick(things).toLowerCase()}-${random.below(300)}.ts: ${name} ${words}`;
  };
  const texts = Array.from({ length: blocks }, () =>
    Array.from({ length: 1 + random.below(40) }, lineOf).join("\n"),
  );
  const index = new LexicalIndex();
  for (const [order, text] of texts.entries()) {
    const ids = { block: blockId(order + 1), turn: turnOf(order + 1) };
    index.add({ ...ids, kind: "tool-result", speaker: "client", text });
  }
  const lowered = texts.map((text) => text.toLowerCase());
  const ratios = Array.from({ length: quick ? 5 : 60 }, () => {
    const words = lineOf().split(/:? /);
    const query = pick([words[0], words[1], words.slice(0, 4).join(" ")]) ?? "";
    return compare(
      () => keep(scan(lowered, query)),
      () => keep(index.find(query, { max: 5, now: turnOf(blocks) })),
      3,
    ).ratio;
  });
  return {
    name: `finding among ${countText(blocks)} blocks, p95, / looking through all`,
    figure: quantile(ratios, 0.95),
    boundMax: 0.5,
    unit: "x",
    note: `p50 ${quantile(ratios, 0.5).toFixed(2)}x`,
  };
}

/** Searches every text for every word; texts with most words come first. */
function scan(lowered: readonly string[], query: string): readonly number[] {
  const words = query.toLowerCase().split(" ");
  const counts = lowered.map((text, at) => ({
    at,
    count: words.filter((word) => text.includes(word)).length,
  }));
  const found = counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count || b.at - a.at);
  return found.slice(0, 5).map(({ at }) => at);
}
