import type { Random } from "../../src/base/index.ts";
import { extract } from "../../src/levels/index.ts";
import {
  type RecordedTurn,
  readRecording,
  recordingNames,
  type WireBlock,
  type WireMessage,
} from "../support/recordings.ts";
import { type Damage, damages, namesOf, numbersOf } from "./acceptance-damage.ts";
import { reword } from "./acceptance-reword.ts";
import { ownTexts } from "./acceptance-texts.ts";
import { unseenTexts } from "./acceptance-unseen.ts";

export type LongText = { readonly kind: "user" | "assistant" | "tool-result"; readonly text: string };
export type Faithful = {
  readonly how: "extract" | "reworded" | "by hand";
  readonly text: string;
  readonly lines: readonly string[];
};
export type Damaged = { readonly kind: string; readonly text: string; readonly lines: readonly string[] };

/** The rules were tuned on every second session and on `ownTexts`; the figures are those of the others. */
export type Half = "tuned" | "reported";

function inHalf(at: number, half: Half): boolean {
  return (at % 2 === 0) === (half === "reported");
}

const charsMin = { user: 1_500, assistant: 800, "tool-result": 3_000 } as const;
const charsMax = 40_000;

/** The long texts of recorded sessions, each once. */
export function longTexts(half: Half): readonly LongText[] {
  const names = recordingNames()
    .toSorted()
    .filter((_name, at) => inHalf(at, half));
  const all = names.flatMap((name) => readRecording(name).turns.flatMap(textsOfTurn));
  const long = all.filter(({ kind, text }) => text.length >= charsMin[kind] && text.length <= charsMax);
  return [...new Map(long.map((one) => [one.text, one])).values()];
}

function textsOfTurn({ a, c }: RecordedTurn): readonly LongText[] {
  const answered = a.filter(({ type }) => type === "text");
  return [
    ...c.flatMap(textsOfMessage),
    ...answered.map((block) => ({ kind: "assistant", text: stringOf(block["text"]) }) as const),
  ];
}

function textsOfMessage({ content }: WireMessage): readonly LongText[] {
  if (typeof content === "string") return [{ kind: "user", text: content }];
  return content.flatMap((block): readonly LongText[] => {
    if (block.type === "text") return [{ kind: "user", text: stringOf(block["text"]) }];
    return block.type === "tool_result" ? [{ kind: "tool-result", text: resultText(block["content"]) }] : [];
  });
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return (content as readonly WireBlock[]).map(({ text }) => stringOf(text)).join("\n");
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What an extract may keep of the tokens of its original, about four characters each. */
const shares = [0.3, 0.5] as const;

/** Summaries that say nothing wrong: extracts, the same in other words, and those written by hand. */
export function faithfulOnes(half: Half, random: Random): readonly Faithful[] {
  const recorded = longTexts(half).flatMap((source) =>
    shares.flatMap((share) => bothWays(source, share, random)),
  );
  const own = half === "tuned" ? ownTexts : unseenTexts;
  const byHand = own.flatMap(({ text, summaries }) =>
    summaries.map((summary) => ({ how: "by hand", text, lines: summary.split("\n") }) as const),
  );
  return [...recorded, ...byHand];
}

function bothWays(source: LongText, share: number, random: Random): readonly Faithful[] {
  const lines = extract(source, (source.text.length / 4) * share).split("\n");
  const sentences = lines.flatMap((line) => line.split(/ … |(?<=[.!?]) (?=[A-Z])/));
  return [
    { how: "extract", text: source.text, lines },
    { how: "reworded", text: source.text, lines: reword(sentences, random) },
  ];
}

/** So many of each kind in turn, each done to one of these summaries at random. */
export function damagedOnes(from: readonly Faithful[], count: number, random: Random): readonly Damaged[] {
  const kinds = Object.entries(damages);
  const made: Damaged[] = [];
  for (let at = 0; made.length < count; at += 1) {
    const [kind, damage] = kinds[at % kinds.length] as (typeof kinds)[number];
    const one = damagedOne(from, damage, random);
    if (one !== null) made.push({ kind, ...one });
  }
  return made;
}

/** Not every summary has what is to be damaged. */
const attempts = 200;

function damagedOne(from: readonly Faithful[], damage: Damage, random: Random): Omit<Damaged, "kind"> | null {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const { text, lines } = random.pick(from);
    const sentences = damage({ sentences: lines, numbers: numbersOf(text), names: namesOf(text) }, random);
    if (sentences !== null) return { text, lines: sentences };
  }
  return null;
}
