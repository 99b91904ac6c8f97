const run = /[A-Za-z0-9_./~@$-]{4,}/g;
const edges = /^[.~@$-]+(?=[A-Za-z0-9_])|[./~@$-]+$/g;
const separators = /[./~@$-]+/;
const charsMax = 160;
const partCharsMin = 6;

/** Something a reader may look for by its name, and how much it would be missed. */
export type Name = { readonly text: string; readonly worth: number };

const isLong = 8;
const isPath = /[A-Za-z0-9]\/[A-Za-z0-9._]/;
const isShaped = /[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z0-9]\.[A-Za-z]/;
const hasDigit = /[0-9]/;
const hasLetter = /[A-Za-z]/;

/** Paths, compound names and numbered things of a line; then the parts of each that may be spoken of alone. */
export function namesIn(line: string): readonly Name[] {
  const names: Name[] = [];
  for (const [piece] of line.matchAll(run)) {
    const text = piece.replace(edges, "");
    const worth = worthOf(text);
    if (worth === 0) continue;
    names.push({ text, worth });
    if (separators.test(text)) addParts(text, names);
  }
  return names;
}

const partShare = 0.3;

function addParts(name: string, names: Name[]): void {
  for (const text of name.split(separators)) {
    if (text.length < partCharsMin) continue;
    const worth = worthOf(text) * partShare;
    if (worth > 0) names.push({ text, worth });
  }
  for (let at = name.indexOf("/", 1); at > 0; at = name.indexOf("/", at + 1)) {
    names.push({ text: name.slice(at + 1), worth: partShare });
    names.push({ text: name.slice(0, at), worth: partShare });
  }
}

/** Nothing for plain words: they stand elsewhere, or nobody would search for them. */
function worthOf(name: string): number {
  if (name.length < 5 || name.length > charsMax || !hasLetter.test(name)) return 0;
  if (isPath.test(name) || isShaped.test(name)) return name.length >= isLong ? 1 : 0.3;
  return hasDigit.test(name) && name.length >= isLong ? 1 : 0;
}
