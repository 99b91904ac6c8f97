/** Something a reader may look for by its name, and how much it would be missed: a whole name counts one. */
export type Name = { readonly text: string; readonly worth: number };

export const nameCharsMin = 5;
const run = /[A-Za-z0-9_./~@$-]{5,}/g;
const separator = /[./~@$-]/;
const separators = /[./~@$-]+/;
const charsMin = 8;
const charsMax = 160;

const isPath = /[A-Za-z0-9]\/[A-Za-z0-9._]/;
const isCompound = /[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z0-9]\.[A-Za-z]/;
const isWord = /^[A-Za-z]*$/;
const hasLetter = /[A-Za-z]/;
const hasDigit = /[0-9]/;

/** How often a part of a name is spoken of alone, against the name itself: seen in recorded sessions. */
const shares = { atom: 0.5, file: 0.3, path: 0.03 } as const;
const shortWorth = 0.1;
/** Hashes, sizes and the like: seldom spoken of again. */
const numberWorth = 0.4;
const pathPartsMax = 6;

/** Paths, compound names and numbered things of a line, and the parts of each that may be spoken of alone. */
export function namesIn(line: string): readonly Name[] {
  const names: Name[] = [];
  for (const piece of line.match(run) ?? []) {
    // Longer ones are data. They must not reach the loops below either.
    if (piece.length > charsMax) continue;
    const text = bare(piece);
    const worth = worthOf(text);
    if (worth === 0) continue;
    names.push({ text, worth });
    if (separator.test(text)) addParts(text, names);
  }
  return names;
}

/** Without signs at its ends; `/usr` and `.github` keep theirs. */
function bare(piece: string): string {
  let start = 0;
  while (start < piece.length && isSign(piece, start)) start += 1;
  let end = piece.length;
  while (end > start && isSign(piece, end - 1)) end -= 1;
  if (start === 0 && end === piece.length) return piece;
  const front = piece.slice(0, start);
  return piece.slice(front === "/" || front === "." ? 0 : start, end);
}

function isSign(piece: string, at: number): boolean {
  return signs.includes(piece.charAt(at));
}

const signs = "./~@$-";

/** Nothing for plain words: they stand elsewhere too, or nobody would search for them. */
function worthOf(name: string): number {
  if (isWord.test(name) ? !isCompound.test(name) : !isSpecial(name)) return 0;
  if (name.length < charsMin) return shortWorth;
  return isCompound.test(name) || isPath.test(name) ? 1 : numberWorth;
}

function isSpecial(name: string): boolean {
  return hasLetter.test(name) && (hasDigit.test(name) || isPath.test(name) || isCompound.test(name));
}

function addParts(name: string, names: Name[]): void {
  for (const text of name.split(separators)) addPart({ text, worth: shares.atom }, names);
  const lastSlash = name.lastIndexOf("/");
  if (lastSlash <= 0) return;
  addPart({ text: name.slice(lastSlash + 1), worth: shares.file }, names);
  let at = name.indexOf("/", 1);
  for (let parts = 0; at > 0 && parts < pathPartsMax; parts += 1) {
    addPart({ text: name.slice(at + 1), worth: shares.path }, names);
    addPart({ text: name.slice(0, at), worth: shares.path }, names);
    at = name.indexOf("/", at + 1);
  }
}

function addPart(part: Name, names: Name[]): void {
  if (part.text.length >= charsMin && worthOf(part.text) === 1) names.push(part);
}
