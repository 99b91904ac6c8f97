/**
 * Tells if the next line of a Markdown text is free: not in a code fence, in inline code that spans lines, in
 * markup or in a quotation. If a text can be read in several ways, it follows all of them, and a line is free
 * only if it is free in each: a model repeats a command that was missed, but a command that was only quoted
 * must never act. The caller judges the indent of the line.
 */
export class LineContext {
  #states: readonly ParseState[] = onlyOutside;

  get isFree(): boolean {
    return this.#states.length <= statesMax && this.#states.every(isOutside);
  }

  /** Reads a whole line, without its line end. */
  passLine(line: string): void {
    // With too many ways to read the text, no line is free any more.
    if (this.#states.length > statesMax) return;
    const [only, other] = this.#states;
    if (only === outside && other === undefined && isPlain(line)) return;
    const indented = measureIndent(line);
    const next = this.#states.flatMap((state) => statesAfter(state, indented));
    const states = next.length === 1 ? next : distinct(next);
    const isBack = states.every((state) => isOutside(state) && state.items.length === 0);
    this.#states = isBack ? onlyOutside : states;
  }
}

const statesMax = 16;

/** One way to read the text so far. */
type ParseState = {
  /** The columns of the list items that the next line may belong to, the outermost first. */
  readonly items: readonly number[];
  readonly fence: string | null;
  /** The end of the open markup: a closing tag, or an empty line (""). */
  readonly markup: string | null;
  readonly isQuoted: boolean;
  /** The number of backticks that opened the inline code; 0 if none is open. */
  readonly ticks: number;
};
const outside: ParseState = { items: [], fence: null, markup: null, isQuoted: false, ticks: 0 };

const onlyOutside: readonly ParseState[] = [outside];

/** Most lines begin with a letter, have no backtick, and open nothing. */
function isPlain(line: string): boolean {
  return line === "" || (/^[A-Za-z]/.test(line) && !line.includes("`"));
}

type IndentedLine = { readonly line: string; readonly text: string; readonly indent: number };

function isOutside({ fence, markup, isQuoted, ticks }: ParseState): boolean {
  return fence === null && markup === null && !isQuoted && ticks === 0;
}

function distinct(states: readonly ParseState[]): readonly ParseState[] {
  const kept: ParseState[] = [];
  for (const state of states) if (!kept.some((other) => isSame(state, other))) kept.push(state);
  return kept;
}

function isSame(a: ParseState, b: ParseState): boolean {
  if (a.ticks !== b.ticks || a.fence !== b.fence || a.markup !== b.markup) return false;
  return a.isQuoted === b.isQuoted && a.items.join() === b.items.join();
}

function measureIndent(line: string): IndentedLine {
  let [at, indent] = [0, 0];
  for (; line.charAt(at) === " " || line.charAt(at) === "\t"; at += 1) {
    indent += line.charAt(at) === " " ? 1 : 4 - (indent % 4);
  }
  return { line, text: line.slice(at).trimEnd(), indent };
}

function statesAfter(state: ParseState, indented: IndentedLine): readonly ParseState[] {
  const { line, text, indent } = indented;
  if (text === "") return [afterEmpty(state)];
  if (state.markup !== null) {
    const isEnd = state.markup !== "" && line.toLowerCase().includes(state.markup);
    return [isEnd ? { ...state, markup: null } : state];
  }
  const inside = state.items.at(-1) ?? 0;
  // A fence in a list item ends at the first line that begins further left than the item.
  if (state.fence === null || indent < inside) return afterText({ ...state, fence: null }, indented);
  const isEnd = indent - inside < 4 && isFence(text, state.fence);
  return [isEnd ? { ...state, fence: null } : state];
}

function afterEmpty(state: ParseState): ParseState {
  if (state.fence !== null || (state.markup !== null && state.markup !== "")) return state;
  return { ...outside, items: state.items };
}

function isFence(text: string, fence: string): boolean {
  if (text.length < fence.length) return false;
  const sign = fence.charAt(0);
  for (const each of text) if (each !== sign) return false;
  return true;
}

function afterText(state: ParseState, { text, indent }: IndentedLine): readonly ParseState[] {
  const reached = state.items.filter((column) => column <= indent);
  const isDeep = indent - (reached.at(-1) ?? 0) >= 4;
  const { items, rest } = isDeep ? { items: reached, rest: "" } : afterMarkers(reached, text, indent);
  const fence = fenceAt(rest);
  if (fence !== null) return [{ ...outside, items, fence }];
  // Lines without ">" still belong to a quotation, until an empty line.
  if (rest.startsWith(">") || state.isQuoted) return [{ ...outside, items, isQuoted: true }];
  const markup = markupAt(rest);
  if (markup !== null && markup !== "") return [{ ...outside, items, markup }];
  // The line may continue a paragraph or begin one, and inline code ends with its paragraph.
  const ticksBefore = state.ticks === 0 ? [0] : [state.ticks, 0];
  const asText = ticksBefore.map((ticks) => ({ ...outside, items, ticks: ticksAfter(text, ticks) }));
  return markup === null ? asText : [...asText, { ...outside, items, markup }];
}

const marker = /^(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
/** Lists are not nested deeper than this. */
const markersMax = 20;

/** The items a line opens, and the text behind their markers; "" if that text is indented code. */
function afterMarkers(reached: readonly number[], text: string, indent: number) {
  const items = [...reached];
  let [rest, column] = [text, indent];
  for (let count = 0; count < markersMax; count += 1) {
    const [sign] = marker.exec(rest) ?? [];
    if (sign === undefined) return { items, rest };
    const behind = measureIndent(rest.slice(sign.length));
    const isCode = behind.indent > 4;
    column += sign.length + (isCode || behind.text === "" ? 1 : behind.indent);
    items.push(column);
    if (isCode) return { items, rest: "" };
    rest = behind.text;
  }
  return { items, rest };
}

/** The fence that opens a line; null if none. Backticks with more backticks behind them are inline code. */
function fenceAt(text: string): string | null {
  const sign = text.charAt(0);
  if (sign !== "`" && sign !== "~") return null;
  let length = 1;
  while (text.charAt(length) === sign) length += 1;
  const isInline = sign === "`" && text.includes("`", length);
  return length < 3 || isInline ? null : sign.repeat(length);
}

/** Markup that only its own end closes: how it begins, and that end. */
const closedMarkup: readonly (readonly [RegExp, string])[] = [
  [/^<!--/, "-->"],
  [/^<\?/, "?>"],
  [/^<!\[cdata\[/, "]]>"],
  ...["pre", "script", "style", "textarea"].map(
    (tag) => [new RegExp(`^<${tag}(?:[\\s>]|$)`), `</${tag}>`] as const,
  ),
];

/** The end of the markup that a line opens; "" for other markup, which lasts until an empty line. */
function markupAt(text: string): string | null {
  if (!/^<[A-Za-z/!?]/.test(text)) return null;
  const small = text.toLowerCase();
  const [, end] = closedMarkup.find(([start]) => start.test(small)) ?? [null, ""];
  return end !== "" && small.includes(end) ? null : end;
}

function ticksAfter(line: string, before: number): number {
  let ticks = before;
  for (let at = line.indexOf("`"); at !== -1; at = line.indexOf("`", at)) {
    const start = at;
    while (line.charAt(at) === "`") at += 1;
    const run = at - start - (ticks === 0 && isEscaped(line, start) ? 1 : 0);
    if (ticks === 0) ticks = run;
    else if (ticks === run) ticks = 0;
  }
  return ticks;
}

function isEscaped(line: string, at: number): boolean {
  let slashes = 0;
  while (line.charAt(at - 1 - slashes) === "\\") slashes += 1;
  return slashes % 2 === 1;
}
