import { identifiersIn, namesInText } from "../../src/analysis/play/identifiers.ts";
import type { Json } from "../../src/base/index.ts";
import type { Source } from "../../src/levels/index.ts";
import type { ExactCounter } from "../../src/tokens/index.ts";
import { recordingStreams } from "../../src/transcripts/index.ts";
import {
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  readRecording,
  recordingNames,
} from "../support/recordings.ts";

/** A tool result of a recorded session, with what the model went on to say of it. */
export type RecordedResult = {
  readonly session: string;
  readonly source: Source;
  readonly tokens: number;
  /** Distinctive identifiers that stand in it and in a later answer of the same line of talk. */
  readonly usedLater: ReadonlySet<string>;
};

export type Wanted = { readonly tokensMin: number; readonly count: ExactCounter };

/** Every result of every line of talk that is long enough, in the order of the recordings. */
export function recordedResults(wanted: Wanted): readonly RecordedResult[] {
  return recordingNames().flatMap((session) =>
    recordingStreams(readRecording(session)).flatMap((turns) => resultsIn({ session, turns }, wanted)),
  );
}

type Talk = { readonly session: string; readonly turns: readonly RecordedTurn[] };
type Call = { readonly tool: string; readonly input: Json };

function resultsIn({ session, turns }: Talk, { tokensMin, count }: Wanted): readonly RecordedResult[] {
  const lastUses = lastUsesIn(turns);
  const calls = callsIn(turns);
  return turns.flatMap(({ c }, turn) =>
    c.flatMap(blocksOf).flatMap((block) => {
      if (block.type !== "tool_result") return [];
      const text = resultText(block["content"]);
      const tokens = count(text);
      if (tokens < tokensMin) return [];
      const call = calls.get(stringOf(block["tool_use_id"]));
      const source: Source = {
        kind: "tool-result",
        text,
        tool: call?.tool ?? null,
        input: call?.input ?? null,
      };
      const usedLater = [...namesInText(text)].filter((name) => (lastUses.get(name) ?? -1) >= turn);
      return [{ session, source, tokens, usedLater: new Set(usedLater) }];
    }),
  );
}

/** The last turn whose answer says a name. */
function lastUsesIn(turns: readonly RecordedTurn[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const [turn, { a }] of turns.entries())
    for (const block of a) for (const name of identifiersIn(answerText(block))) uses.set(name, turn);
  return uses;
}

function callsIn(turns: readonly RecordedTurn[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  for (const { a, c } of turns)
    for (const block of [...a, ...c.flatMap(blocksOf)])
      if (block.type === "tool_use")
        calls.set(stringOf(block["id"]), {
          tool: stringOf(block["name"]),
          input: (block["input"] ?? null) as Json,
        });
  return calls;
}

function blocksOf({ content }: RecordedMessage): readonly RecordedBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function answerText(block: RecordedBlock): string {
  if (block.type === "thinking") return stringOf(block["thinking"]);
  if (block.type === "tool_use") return [stringOf(block["name"]), ...stringsIn(block["input"])].join("\n");
  return stringOf(block["text"]);
}

/** Images have no text. */
export function resultText(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return (content as readonly RecordedBlock[])
    .map((block) => stringOf(block["text"]))
    .filter((text) => text !== "")
    .join("\n");
}

export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
