/**
 * At most so many o200k tokens, without the vocabulary. The tokenizer cuts a text into words, numbers of up to
 * three digits and runs of signs before it looks anything up; a sign is never more tokens than it has bytes,
 * and two neighbouring small letters are one token except for a few pairs with rare letters.
 */
export function boundedTokens(text: string): number {
  let sum = 0;
  for (const [piece] of text.matchAll(/[a-z]+|[A-Z]|\d{1,3}|\s+|[\s\S]/gu)) sum += pieceBound(piece);
  return sum;
}

const rareLetters = /[jkqxz]/;

function pieceBound(piece: string): number {
  if (/^[a-z]/.test(piece)) return letterBound(piece);
  if (/^\d/.test(piece)) return 1;
  if (piece === " ") return 0;
  return utf8Length(piece);
}

/** Two letters of three, in the worst word there is; rare letters may stand alone. */
function letterBound(letters: string): number {
  return letters
    .split(/(?<=[jkqxz])|(?=[jkqxz])/)
    .reduce((sum, run) => sum + (rareLetters.test(run) ? 1 : Math.ceil((2 * run.length) / 3)), 0);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
