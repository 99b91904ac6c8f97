/** Identifiers are found independently of the code that is measured, so that a mistake there shows. */
const run = /[A-Za-z0-9_./~@$-]+/g;
const separator = /[./~@$-]/;
const charsMin = 8;
const charsMax = 160;
const shapes = [
  /[A-Za-z0-9]\/[A-Za-z0-9._]/,
  /[A-Za-z0-9]_[A-Za-z0-9]/,
  /[a-z][A-Z]/,
  /[A-Za-z0-9]\.[A-Za-z]/,
  /[0-9]/,
];

/** Paths, snake_case, camelCase, dotted and numbered names of eight characters or more. */
export function identifiersIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [piece] of text.matchAll(run)) {
    const name = trimSeparators(piece);
    if (isIdentifier(name)) found.add(name);
  }
  return found;
}

const fronts = ["/", ".", "/.", "~/", "~/."];

/** `--name`, `./name`, `../name`, `//name` are the name; `/usr`, `.github` and `~/` stay as they are. */
function trimSeparators(piece: string): string {
  const front = /^[./~@$-]*/.exec(piece)?.[0] ?? "";
  let end = piece.length;
  while (end > front.length && separator.test(piece.charAt(end - 1))) end -= 1;
  return piece.slice(fronts.includes(front) ? 0 : front.length, end);
}

function isIdentifier(name: string): boolean {
  if (name.length < charsMin || name.length > charsMax || !/[A-Za-z]/.test(name)) return false;
  return shapes.some((shape) => shape.test(name));
}

/** All names that occur literally in a text: its identifiers, and every part of one between separators. */
export function namesInText(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of identifiersIn(text)) for (const part of partsOf(name)) found.add(part);
  return found;
}

function partsOf(name: string): readonly string[] {
  const starts = [0];
  const ends: number[] = [];
  for (const [at, character] of [...name].entries()) {
    if (!separator.test(character)) continue;
    if (at > 0) ends.push(at);
    if (character === "/" || character === ".") starts.push(at);
    starts.push(at + 1);
  }
  ends.push(name.length);
  const parts = starts.flatMap((start) => ends.map((end) => name.slice(start, Math.max(start, end))));
  return [name, ...parts.filter((part) => part.length >= charsMin)];
}
