import { type AnswerUnit, unitText, type WireRequest } from "../../protocols/index.ts";

type Remembered = { readonly exchange: number; readonly lines: readonly string[] };

/** An answer is remembered this long in case the client turns out to have used it as a summary. */
const answersKept = 4;
const lineCharsMin = 16;
const linesKept = 200;
/** Clients wrap a summary, strip a tag or two, and keep the rest. */
const shareFound = 0.6;

/**
 * Recent answers of a stream. A client that compacts its history puts a summary where the history was, and
 * the summary is something the model has just said: so a later request tells which answer it was.
 */
export class Summaries {
  #answers: readonly Remembered[] = [];

  remember(exchange: number, units: readonly AnswerUnit[]): void {
    const texts = units.filter(({ unit }) => unit.type === "text").map(({ bytes }) => textIn(bytes));
    const lines = linesOf(texts.join("\n")).slice(0, linesKept);
    if (lines.length === 0) return;
    this.#answers = [{ exchange, lines }, ...this.#answers].slice(0, answersKept);
  }

  /** The exchange whose answer these texts repeat. */
  repeatedIn(texts: readonly string[]): number | null {
    const said = texts.join("\n");
    const found = this.#answers.find(({ lines }) => {
      const repeated = lines.filter((line) => said.includes(line)).length;
      return repeated >= lines.length * shareFound;
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

function textIn(block: Uint8Array): string {
  const written = Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString("utf8");
  const { text } = JSON.parse(written) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

/** The texts of a request that the talk before did not have. */
export function newTexts(request: WireRequest, talk: readonly string[]): readonly string[] {
  const known = new Set(talk);
  return request.messages.flatMap(({ units, range, role }) =>
    role === "assistant"
      ? []
      : units
          .filter(({ key }) => !known.has(key))
          .flatMap((unit) => unitText(request.bytes, range.start, unit) ?? []),
  );
}
