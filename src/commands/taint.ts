import { verbs } from "./command.ts";
import { commandTools } from "./tools.ts";

const names = [...verbs, ...commandTools.map(({ name }) => name.replace("aperture_", ""))].join("|");
/** Every repetition is bounded, so no text takes longer than its length. */
const speech = new RegExp(`@(?:${verbs.join("|")})\\s{0,4}\\(|aperture_(?:${names})|(?:block|message)-\\d`);
const plain = /^[\0-\x7f]*$/;

/**
 * Whether content that nobody vouches for contains what only commands and our own lines contain. A model may
 * have been talked into what it asks for next, so whatever it writes in that turn is asked about first.
 */
export function isTainting(text: string, nonce: string): boolean {
  const read = asRead(text);
  return speech.test(read) || (nonce !== "" && read.includes(nonce.toLowerCase()));
}

/** So much is looked at in one go; neighbours overlap by what the longest of these words may take. */
const pieceChars = 16_384;
const overlapChars = 256;

/**
 * Where such words end in a text, for somebody who is to judge them; null: there are none. In pieces, because
 * a text may be long, and in each by halves: what taints a beginning taints every longer one.
 */
export function taintEnd(text: string, nonce: string): number | null {
  for (let from = 0; from < text.length; from += pieceChars - overlapChars) {
    const piece = text.slice(from, from + pieceChars);
    if (!isTainting(piece, nonce)) continue;
    let [clean, tainting] = [0, piece.length];
    while (tainting - clean > 1) {
      const middle = (clean + tainting) >> 1;
      if (isTainting(piece.slice(0, middle), nonce)) tainting = middle;
      else clean = middle;
    }
    return from + tainting;
  }
  return null;
}

/** Letters of other alphabets that look like one of ours. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  "аa вb сc ԁd еe ғf һh іi јj кk ӏl мm нh оo рp ѕs тt ѵv ԝw хx уy αa βb εe ιi κk νv οo ρp τt υu χx ɑa ɡg ıi"
    .split(" ")
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);

/** Signs that show nothing: formats, what is written over another sign, and letters that are blank. */
const unseen = /[\p{Cf}\p{M}\u115f\u1160\u3164\u2800]+/gu;
const alike = new RegExp(`[${[...lookAlikes.keys()].join("")}]`, "gu");

/** As a model reads it: signs that cannot be seen, and other shapes of a letter, change nothing for it. */
function asRead(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  const seen = text.normalize("NFKD").replace(unseen, "").toLowerCase();
  return seen.replace(alike, (sign) => lookAlikes.get(sign) ?? sign);
}
