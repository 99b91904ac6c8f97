import { namesInText } from "./identifiers.ts";
import type { SizedPromptUnit } from "./unit-sizer.ts";

/** Finds the names in units, each unit once. */
export class UnitNames {
  readonly #known = new Map<string, ReadonlySet<string>>();

  namesIn(unit: SizedPromptUnit): ReadonlySet<string> {
    const key = unit.bare;
    const names = this.#known.get(key) ?? namesInText(unit.text);
    this.#known.set(key, names);
    return names;
  }
}

const noNames: ReadonlySet<string> = new Set();

/** Longer lines are often shortened inside the line. */
const longLineMin = 160;
const pieceMin = 40;

/**
 * The names in lines of a text that occur unchanged in the original, or in long enough pieces of such lines.
 */
export function shownNames(text: string, original: string): ReadonlySet<string> {
  if (text === "" || original === "") return noNames;
  const originalLines = original.split("\n");
  const lines = new Set(originalLines);
  const hasLong = originalLines.some(({ length }) => length > longLineMin);
  const shown = new Set<string>();
  for (const line of text.split("\n")) {
    const names = lines.has(line) ? namesInText(line) : hasLong ? namesInPieces(line, original) : noNames;
    for (const name of names) shown.add(name);
  }
  return shown;
}

function namesInPieces(line: string, original: string): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const name of namesInText(line)) if (standsInPiece(name, line, original)) shown.add(name);
  return shown;
}

function standsInPiece(name: string, line: string, original: string): boolean {
  const spare = Math.max(0, pieceMin - name.length);
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) {
    for (let start = at; start >= at - spare; start -= 1) {
      const end = start + Math.max(pieceMin, name.length);
      if (start >= 0 && end <= line.length && original.includes(line.slice(start, end))) return true;
    }
  }
  return false;
}
