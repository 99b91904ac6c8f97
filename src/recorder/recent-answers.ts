import { type AnswerUnit, protocolOf, unitBytes, type WireRequest } from "../protocols/index.ts";

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
    const texts = units.map(({ unit, bytes }) =>
      unit.part === "text" ? (protocolOf(unit).read.text(bytes) ?? "") : "",
    );
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

/** Texts of a request whose keys are not among these. */
export function newTexts(request: WireRequest, knownKeys: readonly string[]): readonly string[] {
  const known = new Set(knownKeys);
  return request.messages.flatMap(({ units, range, role }) =>
    role === "assistant"
      ? []
      : units
          .filter(({ key }) => !known.has(key))
          .flatMap((unit) =>
            unit.part === "text"
              ? (protocolOf(unit).read.text(unitBytes(request.bytes, range.start, unit)) ?? [])
              : [],
          ),
  );
}
