import type { Random } from "../../src/base/index.ts";

/** What is damaged: the sentences of a faithful summary; and the numbers and names of its original. */
export type Victim = {
  readonly sentences: readonly string[];
  readonly numbers: readonly string[];
  readonly names: readonly string[];
};

/** The sentences, one of them damaged; null if the summary has nothing of the sort. */
export type Damage = (victim: Victim, random: Random) => readonly string[] | null;

type Change = {
  readonly pattern: RegExp;
  readonly by: (found: string, victim: Victim, random: Random) => string | null;
};

/** One occurrence in one sentence, each as likely as the other, becomes something else. */
function changing({ pattern, by }: Change): Damage {
  return (victim, random) => {
    const places = victim.sentences.flatMap((sentence, at) =>
      Array.from(sentence.matchAll(pattern), ({ index, 0: found }) => ({ at, index, found })),
    );
    if (places.length === 0) return null;
    const { at, index, found } = random.pick(places);
    const put = by(found, victim, random);
    if (put === null || put === found) return null;
    const sentence = victim.sentences[at] as string;
    const damaged = `${sentence.slice(0, index)}${put}${sentence.slice(index + found.length)}`.replace(
      / {2,}/g,
      " ",
    );
    return victim.sentences.with(at, damaged.trim());
  };
}

/** Not the number of a point in a list, which is no fact of what is said in it. */
const aNumber =
  /(?!(?<=^[\s*#>-]*)\d+[.)](?:\s|$))(?<![\p{L}\p{N}_.,/#:-])\d+(?:\.\d+)?(?![\p{L}\p{N}_/:-]|[.,]\d)/gu;
const aName =
  /(?<![\p{L}\p{N}_./-])(?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]*[\p{L}\p{N}]|(?<![\p{L}\p{N}_./-])(?:[a-z]+[A-Z]\w+|[a-z]+_[a-z_]+\w|[\w-]+\.(?:ts|go|js|md|py|json|sh))(?![\p{L}\p{N}_/])/gu;

const otherUnits: Readonly<Record<string, string>> = {
  ms: "s",
  s: "ms",
  seconds: "minutes",
  second: "minute",
  minutes: "hours",
  minute: "hour",
  hours: "days",
  hour: "day",
  days: "weeks",
  KB: "MB",
  MB: "GB",
  GB: "MB",
  kB: "MB",
  bytes: "KB",
  "%": " MB",
  tokens: "bytes",
  lines: "bytes",
  characters: "tokens",
  chars: "tokens",
  percent: "seconds",
};

const opposites: readonly (readonly [RegExp, string])[] = [
  [/\bdo not\b/i, "do"],
  [/\bdoes not\b/i, "does"],
  [/\bcannot\b/i, "can"],
  [/\bcan't\b/i, "can"],
  [/\bdon't\b/i, "do"],
  [/\bdoesn't\b/i, "does"],
  [/\bisn't\b/i, "is"],
  [/\bnever\b/i, "always"],
  [/\bwithout\b/i, "with"],
  [/\bnot /i, ""],
  [/\bno\b/i, "a"],
  [/\bwon't\b/i, "will"],
  [/\bdidn't\b/i, "did"],
  [/\bwasn't\b/i, "was"],
  [/\baren't\b/i, "are"],
];
const weaker: Readonly<Record<string, string>> = {
  must: "may",
  only: "also",
  solely: "also",
  always: "sometimes",
  until: "after",
  till: "after",
  unless: "if",
  except: "including",
  required: "optional",
  requires: "allows",
  "at most": "at least",
  "at least": "at most",
  "has to": "may",
};
const turned: Readonly<Record<string, string>> = {
  failed: "passed",
  fails: "passes",
  failing: "passing",
  failure: "success",
  failures: "successes",
  passed: "failed",
  passes: "fails",
  passing: "failing",
  succeeded: "failed",
  succeeds: "fails",
  success: "failure",
  error: "success",
  errors: "successes",
};

function wordPattern(words: Readonly<Record<string, string>>): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_./-])(?:${Object.keys(words).join("|")})(?![\\p{L}\\p{N}_./-])`, "gu");
}

function otherDigit(number: string, random: Random): string {
  const at = random.below(number.length);
  const digit = number.charAt(at);
  if (digit === ".") return `${number}7`;
  return `${number.slice(0, at)}${(Number(digit) + 1 + random.below(8)) % 10 || 3}${number.slice(at + 1)}`;
}

function otherLetter(name: string, random: Random): string {
  const letters = Array.from(
    name.matchAll(/[a-z]{4,}/g),
    ({ index, 0: run }) => index + 1 + random.below(run.length - 2),
  );
  if (letters.length === 0) return `${name}x`;
  const at = random.pick(letters);
  return `${name.slice(0, at)}${name.charAt(at) === "q" ? "v" : "q"}${name.slice(at + 1)}`;
}

function otherOf(all: readonly string[], found: string, random: Random): string | null {
  const others = all.filter((one) => one !== found);
  return others.length === 0 ? null : random.pick(others);
}

/** Telling somebody what to do or to leave; `never` and `do not` elsewhere tell what happened. */
const binding =
  /\b(?:must|shall|has to|may not|may only|should not)\b|(?:^|[,;:.] |\b(?:and|but|please) )(?:never|always|do not|don't|only|solely) \p{L}/iu;

/** In words, to whoever reads it: a comment in a source file or a title in a list of data binds nobody. */
function bindsReader(sentence: string): boolean {
  const isProse = /^[-*\d.# ]*[`"'*]*\p{L}[\p{L}'-]*[,:]? (?:[\p{L}\p{N}'"`*./_(),:-]+ ?){3,}/u.test(
    sentence,
  );
  return isProse && binding.test(sentence) && !/[{}=|<>]|\/\//.test(sentence);
}

/** The sentence that binds is left out. */
const dropBinding: Damage = ({ sentences }, random) => {
  const places = sentences.flatMap((sentence, at) => (bindsReader(sentence) ? [at] : []));
  if (places.length === 0 || sentences.length < 3) return null;
  return sentences.toSpliced(random.pick(places), 1);
};

const anyNegation = new RegExp(opposites.map(([{ source }]) => source).join("|"), "gi");

export const damages: Readonly<Record<string, Damage>> = {
  "number changed": changing({ pattern: aNumber, by: (found, _victim, random) => otherDigit(found, random) }),
  "number of something else": changing({
    pattern: aNumber,
    by: (found, { numbers }, random) => otherOf(numbers, found, random),
  }),
  // The number of a line or of a point in a list is no fact of what is said in it.
  "number lost": changing({
    pattern: new RegExp(`(?<=[\\p{L}\\p{N}].*)${aNumber.source}(?!\\. |→|\\t)`, "gu"),
    by: () => "",
  }),
  "unit changed": changing({
    pattern:
      /(?<=(?<![\p{L}\p{N}_.,/-])\d+(?:\.\d+)? ?)(?:ms|s|seconds?|minutes?|hours?|days|KB|MB|GB|kB|bytes|%|tokens|lines|characters|chars|percent)(?![\p{L}\p{N}_])/gu,
    by: (found) => otherUnits[found] ?? null,
  }),
  "name changed": changing({ pattern: aName, by: (found, _victim, random) => otherLetter(found, random) }),
  "name of something else": changing({
    pattern: aName,
    by: (found, { names }, random) => otherOf(names, found, random),
  }),
  "name lost": changing({ pattern: aName, by: () => "" }),
  "negation lost": changing({
    pattern: anyNegation,
    by: (found) => opposites.find(([pattern]) => pattern.test(found))?.[1] ?? null,
  }),
  "negation added": changing({
    pattern: /\b(?:is|are|was|will|must|should|can|could|does|did)\b(?! not|n't)/g,
    by: (found) => (found === "can" ? "cannot" : `${found} not`),
  }),
  "constraint changed": changing({ pattern: wordPattern(weaker), by: (found) => weaker[found] ?? null }),
  "constraint lost": dropBinding,
  "outcome turned": changing({ pattern: wordPattern(turned), by: (found) => turned[found] ?? null }),
};

export function numbersOf(text: string): readonly string[] {
  return [...new Set(text.match(aNumber) ?? [])];
}

export function namesOf(text: string): readonly string[] {
  return [...new Set(text.match(aName) ?? [])];
}
