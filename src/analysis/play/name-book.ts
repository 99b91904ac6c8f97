import { standingIn } from "./identifiers.ts";
import type { SizedUnit } from "./units.ts";

/** The names in units, each looked at once. */
export class NameBook {
  readonly #known = new Map<string, ReadonlySet<string>>();

  namesIn(unit: SizedUnit): ReadonlySet<string> {
    const key = unit.bare;
    const names = this.#known.get(key) ?? standingIn(unit.text);
    this.#known.set(key, names);
    return names;
  }
}

const nothing: ReadonlySet<string> = new Set();

/** Lines over this are often cut within. */
const longLineMin = 160;
const pieceMin = 40;

/** The names in those lines of a text that stand in the original as they are, and in long enough pieces. */
export function shownNames(text: string, original: string): ReadonlySet<string> {
  if (text === "" || original === "") return nothing;
  const originalLines = original.split("\n");
  const lines = new Set(originalLines);
  const hasLong = originalLines.some(({ length }) => length > longLineMin);
  const shown = new Set<string>();
  for (const line of text.split("\n")) {
    const names = lines.has(line) ? standingIn(line) : hasLong ? namesInPieces(line, original) : nothing;
    for (const name of names) shown.add(name);
  }
  return shown;
}

function namesInPieces(line: string, original: string): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const name of standingIn(line)) if (standsInPiece(name, line, original)) shown.add(name);
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
