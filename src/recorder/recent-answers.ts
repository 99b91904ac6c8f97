import { type AnswerUnit, unitText, type WireRequest } from "../protocols/index.ts";

type RecentAnswer = { readonly exchange: number; readonly lines: readonly string[] };

/** Number of answers that are kept in case the client uses one as a summary. */
const answersKept = 4;
const lineCharsMin = 16;
const linesKept = 200;
/** Clients wrap a summary or strip tags from it, so not all of its lines have to be found. */
const repeatedShareMin = 0.6;

/**
 * Recent answers of a stream. A client that compacts its history replaces it with a summary that the model
 * has just written, so a later request shows which answer was the summary.
 */
export class RecentAnswers {
  #answers: readonly RecentAnswer[] = [];

  add(exchange: number, units: readonly AnswerUnit[]): void {
    const texts = units.filter(({ unit }) => unit.type === "text").map(({ bytes }) => answerTextIn(bytes));
    const lines = linesOf(texts.join("\n")).slice(0, linesKept);
    if (lines.length === 0) return;
    this.#answers = [{ exchange, lines }, ...this.#answers].slice(0, answersKept);
  }

  /** The exchange whose answer these texts repeat. */
  repeatedIn(texts: readonly string[]): number | null {
    const text = texts.join("\n");
    const found = this.#answers.find(({ lines }) => {
      const repeated = lines.filter((line) => text.includes(line)).length;
      return repeated >= lines.length * repeatedShareMin;
    });
    return found?.exchange ?? null;
  }
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineCharsMin);
}

function answerTextIn(bytes: Uint8Array): string {
  const written = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const { text } = JSON.parse(written) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

/** Texts of a request whose keys are not among these. */
export function newTexts(request: WireRequest, knownKeys: readonly string[]): readonly string[] {
  const known = new Set(knownKeys);
  return request.messages.flatMap(({ units, range, role }) =>
    role === "assistant"
      ? []
      : units
          .filter(({ key }) => !known.has(key))
          .flatMap((unit) => unitText(request.bytes, range.start, unit) ?? []),
  );
}
