/** Receives a name that a reader may search for later, and its worth: 1 for a whole name, less for a part. */
export type NameVisitor = (name: string, worth: number) => void;

export const nameCharsMin = 8;
const wordPattern = /[A-Za-z0-9_./~@$-]{8,}/g;
const separator = /[./~@$-]/;
const separators = /[./~@$-]+/;
const charsMax = 160;

const pathPattern = /[A-Za-z0-9]\/[A-Za-z0-9._]/;
const compoundPattern = /[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z0-9]\.[A-Za-z]/;
const lettersOnly = /^[A-Za-z]*$/;
const hasLetter = /[A-Za-z]/;
const hasDigit = /[0-9]/;

/** Search results write the lines around a hit as `file.ts-12-`. */
const contextNumber = /(\.[A-Za-z]{1,5})-\d+$/;

/** How often a part of a name is mentioned alone, relative to the name: measured in recorded sessions. */
const partWorths = { word: 0.5, file: 0.3, path: 0.03 } as const;
/** Hashes, sizes and other words with digits are seldom mentioned again. */
const numberWorth = 0.4;
const pathPartsMax = 6;

/** Visits the paths, compound names and numbered names of a line, and their parts. */
export function visitNames(line: string, visit: NameVisitor): void {
  for (const word of line.match(wordPattern) ?? []) {
    // Longer words are encoded data. The loops below would take too long on them.
    if (word.length > charsMax) continue;
    const name = trimPunctuation(word).replace(contextNumber, "$1");
    const worth = nameWorth(name);
    if (worth === 0) continue;
    visit(name, worth);
    if (separator.test(name)) visitParts(name, visit);
  }
}

/** Removes separators at both ends, but keeps the first character of `/usr` and `.github`. */
function trimPunctuation(word: string): string {
  let start = 0;
  while (start < word.length && isSeparator(word, start)) start += 1;
  let end = word.length;
  while (end > start && isSeparator(word, end - 1)) end -= 1;
  if (start === 0 && end === word.length) return word;
  const front = word.slice(0, start);
  return word.slice(front === "/" || front === "." ? 0 : start, end);
}

const separatorChars = "./~@$-";

function isSeparator(word: string, at: number): boolean {
  return separatorChars.includes(word.charAt(at));
}

/** Zero for short and plain words: they are too common to search for. */
function nameWorth(name: string): number {
  if (name.length < nameCharsMin) return 0;
  if (lettersOnly.test(name) ? !compoundPattern.test(name) : !isDistinctive(name)) return 0;
  return compoundPattern.test(name) || pathPattern.test(name) ? 1 : numberWorth;
}

function isDistinctive(name: string): boolean {
  return (
    hasLetter.test(name) && (hasDigit.test(name) || pathPattern.test(name) || compoundPattern.test(name))
  );
}

function visitParts(name: string, visit: NameVisitor): void {
  const visitPart = (part: string, worth: number): void => {
    if (part.length >= nameCharsMin && nameWorth(part) === 1) visit(part, worth);
  };
  for (const part of name.split(separators)) visitPart(part, partWorths.word);
  let at = name.indexOf("/", 1);
  if (at < 0) return;
  visitPart(name.slice(name.lastIndexOf("/") + 1), partWorths.file);
  for (let parts = 0; at > 0 && parts < pathPartsMax; parts += 1) {
    if (name.length - at > nameCharsMin) visit(name.slice(at + 1), partWorths.path);
    if (at >= nameCharsMin) visit(name.slice(0, at), partWorths.path);
    at = name.indexOf("/", at + 1);
  }
}
