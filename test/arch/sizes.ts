import { isCode } from "./files.ts";
import { type FileMap, lineAt } from "./imports.ts";
import { mask } from "./mask.ts";

/** Files have no limit of their own: a file holds one concept, and a concept is as long as it is. */
export const sizes = { functionMax: 70, lineMax: 110 } as const;

export function sizeProblems(files: FileMap): string[] {
  const code = [...files].filter(([path]) => isCode(path));
  return code.flatMap(([path, source]) => [
    ...longLines(source).map((line) => `${path}:${line}: longer than ${sizes.lineMax} characters`),
    ...longFunctions(source).map(
      ({ line, lines }) => `${path}:${line}: a function of ${lines} lines; at most ${sizes.functionMax}`,
    ),
  ]);
}

/** A formatter cannot break a long string, pattern or address, so what is inside one does not count. */
export function longLines(source: string): number[] {
  const { code, comments } = mask(source);
  const [codeLines, commentLines] = [code.split("\n"), comments.split("\n")];
  return source.split("\n").flatMap((line, index) => {
    if (line.length <= sizes.lineMax || /https?:\/\//.test(line)) return [];
    const seen = [codeLines[index] ?? "", commentLines[index] ?? ""];
    const inside = [...line].filter((character, at) => seen.every((layer) => layer[at] !== character)).length;
    return line.length - inside > sizes.lineMax ? [index + 1] : [];
  });
}

/**
 * Finds bodies by their braces: a block after a parameter list, or after an arrow. Callbacks of `describe`
 * are left out: they are chapters of a test file, not functions anyone calls.
 */
export function longFunctions(source: string): { line: number; lines: number }[] {
  const { code } = mask(source);
  const pairs = matchBrackets(code);
  return [...pairs].flatMap(([open, close]) => {
    if (code[open] !== "(" || isControl(code, open) || isDescribe(code, open)) return [];
    const body = bodyAfter(code, close, pairs);
    const end = body === undefined ? undefined : pairs.get(body);
    if (end === undefined) return [];
    const line = lineAt(code, open);
    const lines = lineAt(code, end) - line + 1;
    return lines > sizes.functionMax ? [{ line, lines }] : [];
  });
}

function matchBrackets(code: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < code.length; at += 1) {
    const character = code[at] ?? "";
    if ("([{".includes(character)) open.push(at);
    if (!")]}".includes(character)) continue;
    const start = open.pop();
    if (start !== undefined) pairs.set(start, at);
  }
  return pairs;
}

function isControl(code: string, open: number): boolean {
  return /\b(?:if|for|while|switch|catch|with|await)\s*$/.test(code.slice(Math.max(0, open - 12), open));
}

function isDescribe(code: string, open: number): boolean {
  const before = code.slice(Math.max(0, open - 200), open);
  return /\bdescribe(?:\.\w+)?\s*\(\s*["'`]\s*["'`]\s*,\s*(?:async\s*)?$/.test(before);
}

/** Where the block starts that follows the parameters ending at `close`, past a return type and an arrow. */
function bodyAfter(code: string, close: number, pairs: ReadonlyMap<number, number>): number | undefined {
  let at = skipBlank(code, close + 1);
  if (code[at] === ":") at = skipType(code, at + 1, pairs);
  if (code.startsWith("=>", at)) at = skipBlank(code, at + 2);
  return code[at] === "{" ? at : undefined;
}

function skipType(code: string, start: number, pairs: ReadonlyMap<number, number>): number {
  let before = ":";
  let angles = 0;
  for (let at = start; at < code.length; at += 1) {
    const character = code[at] ?? "";
    if (/\s/.test(character)) continue;
    // A brace where a type is still expected is an object type; anywhere else it is the body.
    const opensType = character === "{" && /[:|&<,]/.test(before);
    if ((character === "{" && !opensType) || code.startsWith("=>", at) || /[;=)\]}]/.test(character))
      return at;
    if (character === "," && angles === 0) return at;
    if (character === "<") angles += 1;
    if (character === ">") angles -= 1;
    if (opensType || character === "(" || character === "[") at = pairs.get(at) ?? at;
    before = code[at] ?? "";
  }
  return code.length;
}

function skipBlank(code: string, start: number): number {
  let at = start;
  while (at < code.length && /\s/.test(code[at] ?? "")) at += 1;
  return at;
}
