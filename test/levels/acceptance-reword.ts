import type { Random } from "../../src/base/index.ts";

// The same facts in other words: what a careful writer would do to a summary. Nothing here may change a
// number, a name, a negation or what binds; the words around them may change.

type Rewording = (sentence: string) => string;

function replaced(pattern: RegExp, by: string): Rewording {
  return (sentence) => sentence.replace(pattern, by);
}

/** Filler that says nothing. */
const shorter: readonly Rewording[] = [
  replaced(/\b(?:really|basically|simply|actually|currently|very|quite|just) /gi, ""),
  replaced(/\bin order to\b/gi, "to"),
  replaced(/\bas well as\b/gi, "and"),
  replaced(/\bdue to the fact that\b/gi, "because"),
  replaced(/\bthe following\b/gi, "these"),
  replaced(/\b(?:a|an|the) /g, ""),
  replaced(/\bplease /gi, ""),
];

/** Other words for the same. */
const otherWords: readonly Rewording[] = [
  replaced(/\bdo not\b/g, "don't"),
  replaced(/\bDo not\b/g, "You must not"),
  replaced(/\bDon't\b/g, "Do not"),
  replaced(/\bdon't\b/g, "do not"),
  replaced(/\bdoesn't\b/g, "does not"),
  replaced(/\bisn't\b/g, "is not"),
  replaced(/\bcan't\b/g, "cannot"),
  replaced(/\bmust (?!not|be|never|have)/g, "has to "),
  replaced(/\bonly\b/g, "solely"),
  replaced(/\buntil\b/g, "till"),
  replaced(/\bbecause\b/g, "since"),
  replaced(/\balso\b/gi, "too"),
  replaced(/\bshows\b/g, "displays"),
  replaced(/\bcreates?\b/g, "makes"),
  replaced(/\bhowever\b/gi, "still"),
  replaced(/\bif\b/g, "in case"),
];

const objects =
  "((?:the|a|an|any|every|all|this|these|your|our) [\\p{L}\\p{N}./_`-]+(?: [\\p{L}\\p{N}./_`-]+){0,2})";

/** From what somebody does to what is done. */
const passive: readonly Rewording[] = [
  (sentence) =>
    sentence.replace(
      new RegExp(`^Never (\\p{L}+) ${objects}`, "u"),
      (_all, verb: string, what: string) => `${capital(what)} must never be ${participle(verb)}`,
    ),
  (sentence) =>
    sentence.replace(
      new RegExp(`^(?:Do not|Don't) (\\p{L}+) ${objects}`, "u"),
      (_all, verb: string, what: string) => `${capital(what)} must not be ${participle(verb)}`,
    ),
  (sentence) =>
    sentence.replace(
      new RegExp(`^(?:You|We) must (\\p{L}+) ${objects}`, "u"),
      (_all, verb: string, what: string) => `${capital(what)} must be ${participle(verb)}`,
    ),
  (sentence) =>
    sentence.replace(
      new RegExp(`^(?:I|We) (\\p{L}+ed) ${objects}`, "u"),
      (_all, verb: string, what: string) => `${capital(what)} was ${verb}`,
    ),
];

const irregular: Readonly<Record<string, string>> = {
  run: "run",
  make: "made",
  write: "written",
  put: "put",
  set: "set",
  keep: "kept",
  read: "read",
  send: "sent",
  let: "let",
  do: "done",
  give: "given",
  take: "taken",
  build: "built",
  leave: "left",
  commit: "committed",
};

function participle(verb: string): string {
  const known = irregular[verb];
  if (known !== undefined) return known;
  if (verb.endsWith("e")) return `${verb}d`;
  return verb.endsWith("y") && !/[aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${verb}ed`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const openings = [
  "Also, ",
  "In addition, ",
  "Note that ",
  "Furthermore, ",
  "It says: ",
  "As described, ",
  "Then ",
];

/** Only a word that is no name and no acronym loses its capital. */
function opened(sentence: string, random: Random): string {
  if (!/^[A-Z][a-z]+ [a-z]/.test(sentence)) return sentence;
  return `${random.pick(openings)}${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

const isProse = /^[A-Z][\p{L}'-]*,? (?:[\p{L}\p{N}'"`./_()-]+,? ?){3,}/u;

/** Code, tables and output stay as they are: nobody puts them in other words. */
export function rewordSentence(sentence: string, random: Random): string {
  if (!isProse.test(sentence) || /[{}=|<>]/.test(sentence)) return sentence;
  let words = random.float() < 0.5 ? random.pick(passive)(sentence) : sentence;
  for (const rewording of [...shorter, ...otherWords]) if (random.float() < 0.5) words = rewording(words);
  return random.float() < 0.4 ? opened(words, random) : words;
}

const joints = ["; moreover, ", ", and ", "; in the end, "] as const;

/** Other words, another order, and some sentences joined to one. */
export function reword(sentences: readonly string[], random: Random): readonly string[] {
  const reworded = sentences.map((sentence) => rewordSentence(sentence, random));
  for (let at = 0; at + 1 < reworded.length; at += 2) {
    if (random.float() < 0.3)
      [reworded[at], reworded[at + 1]] = [reworded[at + 1] as string, reworded[at] as string];
  }
  const joined: string[] = [];
  for (const sentence of reworded) {
    const before = joined.at(-1);
    const fits =
      before !== undefined && isProse.test(before) && isProse.test(sentence) && before.length < 120;
    if (fits && random.float() < 0.2)
      joined.push(`${(joined.pop() as string).replace(/[.!]$/, "")}${random.pick(joints)}${sentence}`);
    else joined.push(sentence);
  }
  return joined;
}
