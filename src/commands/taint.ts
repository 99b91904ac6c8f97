import { verbs } from "./command.ts";
import { commandTools } from "./tools.ts";

const toolSuffixes = [...verbs, ...commandTools.map(({ name }) => name.replace("aperture_", ""))].join("|");
/** Every repetition is bounded, so the time of a match grows only with the length of the text. */
const commandForm = new RegExp(
  `@(?:${verbs.join("|")})\\s{0,4}\\(|aperture_(?:${toolSuffixes})|(?:block|message)-\\d`,
);
const asciiOnly = /^[\0-\x7f]*$/;

/**
 * True if a text from outside contains forms that only commands and our notes have. Such a text may have
 * talked the model into its next command, so the user is asked before any write of that turn.
 */
export function isTainting(text: string, nonce: string): boolean {
  const plain = plainForm(text);
  return commandForm.test(plain) || (nonce !== "" && plain.includes(nonce.toLowerCase()));
}

/** A text is searched in pieces. They overlap by more than the longest form, so that no cut hides one. */
const pieceChars = 16_384;
const overlapChars = 256;

/**
 * The end of the first tainting form, to show it to the user; null if there is none. A text may be long, so
 * it is searched in pieces, and each piece by halves: if a beginning taints, every longer one does too.
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

/** Letters of other alphabets, each with the Latin letter it looks like. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  "аa вb сc ԁd еe ғf һh іi јj кk ӏl мm нh оo рp ѕs тt ѵv ԝw хx уy αa βb εe ιi κk νv οo ρp τt υu χx ɑa ɡg ıi"
    .split(" ")
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);

/** Characters that show nothing: format characters, combining marks, and letters that are blank. */
const invisible = /[\p{Cf}\p{M}\u115f\u1160\u3164\u2800]+/gu;
const anyLookAlike = new RegExp(`[${[...lookAlikes.keys()].join("")}]`, "gu");

/**
 * The text as a model reads it: invisible characters and other shapes of a letter make no difference to it.
 */
function plainForm(text: string): string {
  if (asciiOnly.test(text)) return text.toLowerCase();
  const visible = text.normalize("NFKD").replace(invisible, "").toLowerCase();
  return visible.replace(anyLookAlike, (sign) => lookAlikes.get(sign) ?? sign);
}
