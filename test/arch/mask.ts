/**
 * Splits a source into layers of the same length, so that a position in one is the position in all:
 * `code` without the insides of comments, strings and regular expressions; `comments` with nothing else.
 * Not a parser: one pass over the characters, which is all that rules about words in code need.
 */
export type Masked = { readonly code: string; readonly comments: string };

type Layer = "code" | "comments" | "neither";

type Scan = { readonly source: string; readonly layers: Layer[]; at: number };

export function mask(source: string): Masked {
  const scan: Scan = { source, layers: new Array<Layer>(source.length).fill("code"), at: 0 };
  // One entry per open `${`: how many plain braces are open inside it.
  const substitutions: number[] = [];
  while (scan.at < source.length) step(scan, substitutions);
  return { code: keep(scan, "code"), comments: keep(scan, "comments") };
}

function keep({ source, layers }: Scan, layer: Layer): string {
  let kept = "";
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at] ?? "";
    kept += layers[at] === layer || character === "\n" ? character : " ";
  }
  return kept;
}

function step(scan: Scan, substitutions: number[]): void {
  const character = scan.source[scan.at] ?? "";
  const pair = scan.source.slice(scan.at, scan.at + 2);
  if (pair === "//") skipUntil(scan, "\n", "comments");
  else if (pair === "/*") skipUntil(scan, "*/", "comments");
  else if (character === '"' || character === "'") skipQuoted(scan, character);
  else if (character === "`") skipTemplate(scan, substitutions);
  else if (character === "/" && startsRegex(scan)) skipRegex(scan);
  else if (character === "}" && substitutions.at(-1) === 0) {
    substitutions.pop();
    skipTemplate(scan, substitutions);
  } else {
    countBrace(character, substitutions);
    scan.at += 1;
  }
}

function countBrace(character: string, substitutions: number[]): void {
  const open = substitutions.at(-1);
  if (open === undefined) return;
  if (character === "{") substitutions[substitutions.length - 1] = open + 1;
  if (character === "}") substitutions[substitutions.length - 1] = open - 1;
}

function skipUntil(scan: Scan, end: string, layer: Layer): void {
  const found = scan.source.indexOf(end, scan.at + 2);
  const stop = found === -1 ? scan.source.length : found + (end === "\n" ? 0 : end.length);
  scan.layers.fill(layer, scan.at, stop);
  scan.at = stop;
}

/** The quotes stay in the code layer: rules look for `from "`. */
function skipQuoted(scan: Scan, quote: string): void {
  let at = scan.at + 1;
  while (at < scan.source.length && scan.source[at] !== quote && scan.source[at] !== "\n") {
    at += scan.source[at] === "\\" ? 2 : 1;
  }
  scan.layers.fill("neither", scan.at + 1, at);
  scan.at = at + 1;
}

/** From a backtick, or from the `}` that ends a substitution, to the next `${` or the closing backtick. */
function skipTemplate(scan: Scan, substitutions: number[]): void {
  let at = scan.at + 1;
  while (at < scan.source.length && scan.source[at] !== "`" && !scan.source.startsWith("${", at)) {
    at += scan.source[at] === "\\" ? 2 : 1;
  }
  scan.layers.fill("neither", scan.at + 1, at);
  const opens = scan.source.startsWith("${", at);
  // The braces of a substitution belong to the template; left in the code they would upset brace counting.
  if (opens) scan.layers.fill("neither", at, at + 2);
  if (scan.source[scan.at] === "}") scan.layers[scan.at] = "neither";
  if (opens) substitutions.push(0);
  scan.at = at + (opens ? 2 : 1);
}

/** A slash divides after a value and opens a regular expression after anything else. */
function startsRegex({ source, layers, at }: Scan): boolean {
  let before = at - 1;
  while (before >= 0 && (layers[before] === "comments" || /\s/.test(source[before] ?? ""))) before -= 1;
  const character = source[before] ?? "";
  if (/["'`)\]}]/.test(character)) return false;
  if (!/[\w$]/.test(character)) return true;
  const word = /[\w$]+$/.exec(source.slice(Math.max(0, before - 20), before + 1))?.[0] ?? "";
  return ["return", "typeof", "case", "in", "of", "void", "yield", "await", "else", "do"].includes(word);
}

function skipRegex(scan: Scan): void {
  let at = scan.at + 1;
  let inClass = false;
  while (at < scan.source.length && scan.source[at] !== "\n") {
    const character = scan.source[at];
    if (character === "/" && !inClass) break;
    if (character === "[") inClass = true;
    if (character === "]") inClass = false;
    at += character === "\\" ? 2 : 1;
  }
  scan.layers.fill("neither", scan.at + 1, at);
  scan.at = at + 1;
}
