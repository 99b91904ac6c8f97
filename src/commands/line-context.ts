/**
 * Whether the next line of a Markdown text stands free: not in a code fence, an inline code that spans lines,
 * markup or a quotation. Where a text can be read in more than one way, all of them are followed, and a line
 * is free only if it is in each: a command that is not seen is written again, one that was only shown must
 * never act. What is indented is left to the reader of the line.
 */
export class LineContext {
  #stands: readonly Stand[] = nowhere;

  get isFree(): boolean {
    return this.#stands.length <= standsMax && this.#stands.every(isOutside);
  }

  /** Takes a whole line, without its end. */
  pass(line: string): void {
    // Too many ways to read it: nothing in it is clear any more.
    if (this.#stands.length > standsMax) return;
    const [only, other] = this.#stands;
    if (only === outside && other === undefined && isPlain(line)) return;
    const measured = measure(line);
    const next = this.#stands.flatMap((stand) => after(stand, measured));
    const stands = next.length === 1 ? next : distinct(next);
    const isBack = stands.every((stand) => isOutside(stand) && stand.items.length === 0);
    this.#stands = isBack ? nowhere : stands;
  }
}

const standsMax = 16;

/** One way to read the text so far. */
type Stand = {
  /** The columns at which the list items begin that the next line may belong to, the outermost first. */
  readonly items: readonly number[];
  readonly fence: string | null;
  /** What ends the markup the line is in: a closing tag, or an empty line (""). */
  readonly markup: string | null;
  readonly isQuoted: boolean;
  /** How many backticks opened the inline code that is not closed yet. */
  readonly ticks: number;
};
const outside: Stand = { items: [], fence: null, markup: null, isQuoted: false, ticks: 0 };

const nowhere: readonly Stand[] = [outside];

/** Most lines are words, and open nothing. */
function isPlain(line: string): boolean {
  return line === "" || (/^[A-Za-z]/.test(line) && !line.includes("`"));
}

type Measured = { readonly line: string; readonly text: string; readonly indent: number };

function isOutside({ fence, markup, isQuoted, ticks }: Stand): boolean {
  return fence === null && markup === null && !isQuoted && ticks === 0;
}

function distinct(stands: readonly Stand[]): readonly Stand[] {
  const kept: Stand[] = [];
  for (const stand of stands) if (!kept.some((other) => isSame(stand, other))) kept.push(stand);
  return kept;
}

function isSame(a: Stand, b: Stand): boolean {
  if (a.ticks !== b.ticks || a.fence !== b.fence || a.markup !== b.markup) return false;
  return a.isQuoted === b.isQuoted && a.items.join() === b.items.join();
}

function measure(line: string): Measured {
  let [at, indent] = [0, 0];
  for (; line.charAt(at) === " " || line.charAt(at) === "\t"; at += 1) {
    indent += line.charAt(at) === " " ? 1 : 4 - (indent % 4);
  }
  return { line, text: line.slice(at).trimEnd(), indent };
}

function after(stand: Stand, measured: Measured): readonly Stand[] {
  const { line, text, indent } = measured;
  if (text === "") return [afterEmpty(stand)];
  if (stand.markup !== null) {
    const isEnd = stand.markup !== "" && line.toLowerCase().includes(stand.markup);
    return [isEnd ? { ...stand, markup: null } : stand];
  }
  const inside = stand.items.at(-1) ?? 0;
  // A fence in a list ends with its item, at the first line that stands further left.
  if (stand.fence === null || indent < inside) return afterText({ ...stand, fence: null }, measured);
  const isEnd = indent - inside < 4 && isFence(text, stand.fence);
  return [isEnd ? { ...stand, fence: null } : stand];
}

function afterEmpty(stand: Stand): Stand {
  if (stand.fence !== null || (stand.markup !== null && stand.markup !== "")) return stand;
  return { ...outside, items: stand.items };
}

function isFence(text: string, fence: string): boolean {
  if (text.length < fence.length) return false;
  const sign = fence.charAt(0);
  for (const each of text) if (each !== sign) return false;
  return true;
}

function afterText(stand: Stand, { text, indent }: Measured): readonly Stand[] {
  const reached = stand.items.filter((column) => column <= indent);
  const isDeep = indent - (reached.at(-1) ?? 0) >= 4;
  const { items, rest } = isDeep ? { items: reached, rest: "" } : afterMarkers(reached, text, indent);
  const fence = fenceAt(rest);
  if (fence !== null) return [{ ...outside, items, fence }];
  // Lines without the sign still belong to a quotation, until one is empty.
  if (rest.startsWith(">") || stand.isQuoted) return [{ ...outside, items, isQuoted: true }];
  const markup = markupAt(rest);
  if (markup !== null && markup !== "") return [{ ...outside, items, markup }];
  // The line may go on with a paragraph or begin one, and inline code ends with its paragraph.
  const before = stand.ticks === 0 ? [0] : [stand.ticks, 0];
  const said = before.map((ticks) => ({ ...outside, items, ticks: ticksAfter(text, ticks) }));
  return markup === null ? said : [...said, { ...outside, items, markup }];
}

const marker = /^(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
/** Deeper than this nobody nests lists. */
const markersMax = 20;

/** The items that a line opens, and what stands behind their markers; nothing, if that is code. */
function afterMarkers(reached: readonly number[], text: string, indent: number) {
  const items = [...reached];
  let [rest, column] = [text, indent];
  for (let count = 0; count < markersMax; count += 1) {
    const [sign] = marker.exec(rest) ?? [];
    if (sign === undefined) return { items, rest };
    const behind = measure(rest.slice(sign.length));
    const isCode = behind.indent > 4;
    column += sign.length + (isCode || behind.text === "" ? 1 : behind.indent);
    items.push(column);
    if (isCode) return { items, rest: "" };
    rest = behind.text;
  }
  return { items, rest };
}

/** The fence itself. Backticks with more backticks behind them are inline code. */
function fenceAt(text: string): string | null {
  const sign = text.charAt(0);
  if (sign !== "`" && sign !== "~") return null;
  let length = 1;
  while (text.charAt(length) === sign) length += 1;
  const isInline = sign === "`" && text.includes("`", length);
  return length < 3 || isInline ? null : sign.repeat(length);
}

/** Markup that goes on until its own end, and what that is. */
const lasting: readonly (readonly [RegExp, string])[] = [
  [/^<!--/, "-->"],
  [/^<\?/, "?>"],
  [/^<!\[cdata\[/, "]]>"],
  ...["pre", "script", "style", "textarea"].map(
    (tag) => [new RegExp(`^<${tag}(?:[\\s>]|$)`), `</${tag}>`] as const,
  ),
];

/** What ends the markup that a line begins; other markup may go on until an empty line. */
function markupAt(text: string): string | null {
  if (!/^<[A-Za-z/!?]/.test(text)) return null;
  const small = text.toLowerCase();
  const [, end] = lasting.find(([start]) => start.test(small)) ?? [null, ""];
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
