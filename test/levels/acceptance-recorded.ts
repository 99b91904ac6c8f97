import {
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  readRecording,
  recordingNames,
} from "../support/recordings.ts";

export type LongText = { readonly kind: "user" | "assistant" | "tool-result"; readonly text: string };
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

function textsOfMessage({ content }: RecordedMessage): readonly LongText[] {
  if (typeof content === "string") return [{ kind: "user", text: content }];
  return content.flatMap((block): readonly LongText[] => {
    if (block.type === "text") return [{ kind: "user", text: stringOf(block["text"]) }];
    return block.type === "tool_result" ? [{ kind: "tool-result", text: resultText(block["content"]) }] : [];
  });
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return (content as readonly RecordedBlock[]).map(({ text }) => stringOf(text)).join("\n");
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The first text of a session that begins so; null, where the session is not there. */
export function textThatStarts(session: string, starts: string): string | null {
  if (!recordingNames().includes(session)) return null;
  const said = readRecording(session).turns.flatMap(textsOfTurn);
  const found = said.find(({ text }) => text.startsWith(starts));
  if (found === undefined) throw new Error(`${session} has no text that starts with: ${starts}`);
  return found.text;
}
