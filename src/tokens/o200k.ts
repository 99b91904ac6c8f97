/** Counts the exact tokens of a text with the o200k vocabulary. */
export type ExactCounter = (text: string) => number;

let loading: Promise<ExactCounter> | null = null;

/** The vocabulary takes 0.2 s and 66 MB, so it is loaded once, with the first call. */
export function loadO200k(): Promise<ExactCounter> {
  loading ??= load().catch((cause: unknown) => {
    // The next call tries again.
    loading = null;
    throw cause;
  });
  return loading;
}

async function load(): Promise<ExactCounter> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // Names of special tokens in content count as text.
  const asText = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return (text) => splitRuns(text).reduce((sum, piece) => sum + countTokens(piece, asText), 0);
}

/**
 * Merging takes time quadratic in the length of a run without a boundary: seconds for a page of Chinese. With
 * runs cut at this length a count is linear, and differs by a quarter of a percent on such a page and by next
 * to nothing elsewhere.
 */
const runMax = 256;
const whiteSpace = /\s/;

/** Splits a text into pieces without an unbroken run over the limit, of white space or of anything else. */
export function splitRuns(text: string): readonly string[] {
  const pieces: string[] = [];
  let pieceStart = 0;
  let runStart = 0;
  let wasWhite = false;
  for (let at = 0; at < text.length; at += 1) {
    const isWhite = isWhiteAt(text, at);
    if (isWhite !== wasWhite) runStart = at;
    wasWhite = isWhite;
    if (at - runStart < runMax || isSecondHalf(text, at)) continue;
    pieces.push(text.slice(pieceStart, at));
    pieceStart = at;
    runStart = at;
  }
  pieces.push(text.slice(pieceStart));
  return pieces;
}

function isWhiteAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return code < 0x3001 && whiteSpace.test(text.charAt(at));
}

/** A text is never cut inside a surrogate pair: both halves would be counted as broken characters. */
function isSecondHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
