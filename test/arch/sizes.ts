import { isCode } from "./files.ts";
import { type FileMap, lineAt } from "./imports.ts";
import { mask } from "./mask.ts";

export const sizes = { fileSoft: 400, fileHard: 800, functionMax: 70, lineMax: 110 } as const;

/** Files allowed above the soft limit, with the line count they may not exceed. It can only shrink. */
export type Ratchet = Readonly<Record<string, number>>;

export function sizeProblems(files: FileMap, ratchet: Ratchet): string[] {
  const code = [...files].filter(([path]) => isCode(path));
  const gone = Object.keys(ratchet).filter((path) => !files.has(path));
  return [
    ...gone.map((path) => `${path}: in the ratchet but not in the repository; remove it there`),
    ...code.flatMap(([path, source]) => [
      ...fileProblems(path, linesIn(source), ratchet[path]),
      ...longLines(source).map((line) => `${path}:${line}: longer than ${sizes.lineMax} characters`),
      ...longFunctions(source).map(
        ({ line, lines }) => `${path}:${line}: a function of ${lines} lines; at most ${sizes.functionMax}`,
      ),
    ]),
  ];
}

function linesIn(source: string): number {
  return source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
}

function fileProblems(path: string, lines: number, allowed: number | undefined): string[] {
  if (lines > sizes.fileHard)
    return [`${path}: ${lines} lines; at most ${sizes.fileHard}, without exception`];
  if (allowed === undefined) {
    return lines > sizes.fileSoft
      ? [`${path}: ${lines} lines; split it, or add it to the ratchet with a reason in the commit`]
      : [];
  }
  if (lines > allowed) return [`${path}: ${lines} lines; the ratchet allows ${allowed}`];
  if (lines <= sizes.fileSoft) return [`${path}: ${lines} lines is small enough; remove it from the ratchet`];
  return lines < allowed ? [`${path}: now ${lines} lines; lower the ratchet from ${allowed}`] : [];
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
