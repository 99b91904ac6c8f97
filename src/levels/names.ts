/** Told something a reader may look for, and how much it would be missed: a whole name counts one. */
export type Tell = (name: string, worth: number) => void;

export const nameCharsMin = 8;
const run = /[A-Za-z0-9_./~@$-]{8,}/g;
const separator = /[./~@$-]/;
const separators = /[./~@$-]+/;
const charsMax = 160;

const isPath = /[A-Za-z0-9]\/[A-Za-z0-9._]/;
const isCompound = /[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z0-9]\.[A-Za-z]/;
const isWord = /^[A-Za-z]*$/;
const hasLetter = /[A-Za-z]/;
const hasDigit = /[0-9]/;

/** Search results write the lines around a hit as `file.ts-12-`. */
const contextNumber = /(\.[A-Za-z]{1,5})-\d+$/;

/** How often a part of a name is spoken of alone, against the name itself: seen in recorded sessions. */
const shares = { atom: 0.5, file: 0.3, path: 0.03 } as const;
/** Hashes, sizes and the like: seldom spoken of again. */
const numberWorth = 0.4;
const pathPartsMax = 6;

/** Tells paths, compound names and numbered things of a line, and parts of each that are spoken of alone. */
export function tellNames(line: string, tell: Tell): void {
  for (const piece of line.match(run) ?? []) {
    // Longer ones are data. They must not reach the loops below either.
    if (piece.length > charsMax) continue;
    const name = bare(piece).replace(contextNumber, "$1");
    const worth = worthOf(name);
    if (worth === 0) continue;
    tell(name, worth);
    if (separator.test(name)) tellParts(name, tell);
  }
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

/** Nothing for plain words and short ones: they stand elsewhere too, or nobody would search for them. */
function worthOf(name: string): number {
  if (name.length < nameCharsMin) return 0;
  if (isWord.test(name) ? !isCompound.test(name) : !isSpecial(name)) return 0;
  return isCompound.test(name) || isPath.test(name) ? 1 : numberWorth;
}

function isSpecial(name: string): boolean {
  return hasLetter.test(name) && (hasDigit.test(name) || isPath.test(name) || isCompound.test(name));
}

function tellParts(name: string, tell: Tell): void {
  const tellPart = (part: string, worth: number): void => {
    if (part.length >= nameCharsMin && worthOf(part) === 1) tell(part, worth);
  };
  for (const part of name.split(separators)) tellPart(part, shares.atom);
  let at = name.indexOf("/", 1);
  if (at < 0) return;
  tellPart(name.slice(name.lastIndexOf("/") + 1), shares.file);
  for (let parts = 0; at > 0 && parts < pathPartsMax; parts += 1) {
    if (name.length - at > nameCharsMin) tell(name.slice(at + 1), shares.path);
    if (at >= nameCharsMin) tell(name.slice(0, at), shares.path);
    at = name.indexOf("/", at + 1);
  }
}
