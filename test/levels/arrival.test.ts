import { expect, test } from "vitest";
import { compactResult, SeenLines, type SeenRun, withReferences } from "../../src/levels/index.ts";
import { recordingStreams } from "../../src/transcripts/index.ts";
import {
  hasLargeSet,
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  readRecording,
  recordingNames,
} from "../support/recordings.ts";

/** Characters of tool results, and how many of them each step leaves out. */
type Tally = { chars: number; unchanged: number; arrival: number; seen: number; runs: number };

/** Of all characters of results, so many were shown before: less, and something is no longer recognised. */
const repeatedMin = hasLargeSet ? 0.05 : 0.02;

test("what recorded results repeat is left out, and every reference leads to the same lines", () => {
  const tally: Tally = { chars: 0, unchanged: 0, arrival: 0, seen: 0, runs: 0 };
  for (const name of recordingNames())
    for (const turns of recordingStreams(readRecording(name))) countStream(turns, tally);
  const share = (chars: number): string => `${((100 * chars) / tally.chars).toFixed(2)} %`;
  console.info(
    `of ${tally.chars} characters of results: ${share(tally.arrival)} control and repeated lines, ` +
      `${share(tally.seen)} shown before in ${tally.runs} runs`,
  );
  expect(tally.seen / tally.chars).toBeGreaterThan(repeatedMin);
  expect(tally.unchanged).toBeGreaterThan(0);
}, 120_000);

/** Only what the request still has can be referred to: what the client has dropped is forgotten. */
function countStream(turns: readonly RecordedTurn[], tally: Tally): void {
  const seen = new SeenLines();
  const texts = new Map<number, { readonly text: string; readonly message: number }>();
  let messages = 0;
  let id = 0;
  for (const turn of turns) {
    messages = Math.min(messages, turn.k ?? messages);
    for (const [old, { message }] of texts) {
      if (message < messages) continue;
      texts.delete(old);
      seen.forget(old);
    }
    for (const message of turn.c) {
      for (const original of resultsOf(message)) {
        id += 1;
        texts.set(id, { text: countText({ original, id, seen, texts }, tally), message: messages });
      }
      messages += 1;
    }
    messages += 1;
  }
}

type Arriving = {
  readonly original: string;
  readonly id: number;
  readonly seen: SeenLines;
  readonly texts: ReadonlyMap<number, { readonly text: string }>;
};

function countText({ original, id, seen, texts }: Arriving, tally: Tally): string {
  const text = compactResult(original, "k7");
  const runs = seen.matches(text);
  const shown = withReferences(text, runs, "k7");
  seen.add(id, text, runs);
  for (const run of runs) expectSame(text, texts.get(run.id)?.text ?? "", run);
  tally.chars += original.length;
  tally.arrival += original.length - text.length;
  tally.seen += text.length - shown.length;
  tally.runs += runs.length;
  if (shown === original) tally.unchanged += 1;
  return text;
}

function expectSame(text: string, other: string, { from, to, otherFrom, numbersUp }: SeenRun): void {
  const here = text.split("\n").slice(from - 1, to);
  const there = other.split("\n").slice(otherFrom - 1, otherFrom + to - from);
  expect(there.map((line) => renumbered(line, numbersUp))).toEqual(here);
}

function renumbered(line: string, up: number): string {
  return line.replace(/^( *)(0|[1-9]\d{0,6})(?=[→\t])/, (front: string, blanks: string, digits: string) =>
    String(Number(digits) + up).padStart(blanks === "" ? 0 : front.length),
  );
}

function resultsOf({ content }: RecordedMessage): readonly string[] {
  if (typeof content === "string") return [];
  return content.filter(({ type }) => type === "tool_result").flatMap((block) => textsOf(block["content"]));
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return (content as readonly RecordedBlock[]).flatMap(({ text }) =>
    typeof text === "string" ? [text] : [],
  );
}
