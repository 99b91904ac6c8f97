/** Words that a statement must not lose: what they say of the words beside them decides what is meant. */
export type MarkKind =
  | "negation"
  | "obligation"
  | "always"
  | "only"
  | "exception"
  | "at-most"
  | "at-least"
  | "option"
  | "failed"
  | "passed";

const kindsOfWords: Readonly<Record<MarkKind, string>> = {
  negation: `not never no none nothing neither nor cannot without avoid avoids avoiding refuse refuses refused forbid
    forbids forbidden prohibited prohibit prohibits disallow disallowed unable instead nobody nowhere`,
  obligation: `must shall required requires require mandatory obligatory requirement needs`,
  always: "always",
  only: "only solely exclusively",
  exception: "until till unless except excluding besides",
  "at-most": "most maximum max below under fewer less",
  "at-least": "least minimum min above",
  option: "may might can could allowed permitted optional optionally sometimes usually perhaps possibly",
  failed: `failed fails failing fail failure failures broken breaks crashed crashes error errors errored failed
    rejected refused denied timeout unsuccessful`,
  passed:
    "passed passes passing pass succeeded succeeds success successes successful successfully ok green accepted",
};

const kindByWord = new Map<string, MarkKind>(
  Object.entries(kindsOfWords).flatMap(([kind, words]) =>
    words.split(/\s+/).map((word) => [word, kind as MarkKind] as const),
  ),
);

/** What a word marks, with the one before it: some words mark something only behind another. */
export function markOf(word: string, before: string): MarkKind | null {
  if (word === "to") return before === "have" || before === "has" || before === "need" ? "obligation" : null;
  if (word === "most" || word === "least") return before === "at" ? (kindByWord.get(word) ?? null) : null;
  return kindByWord.get(word) ?? (word.endsWith("n't") ? "negation" : null);
}

const fillers = new Set(
  `the a an and or of to in is are was were be been being it its this that these those with for on as at by from you
  we he she they will would should could can may might must shall has have had having do does did done if then so but
  also which who whom what when where how there here than too very just about into over after before because while
  all any each some such both more most other our your their his her my me us them let lets out up down off again
  once same own now still yet however therefore thus hence moreover furthermore further first next finally meanwhile
  i im ive id were well like via per eg ie etc vs please need needs one ones already even though although since
  whether within between through during against among upon onto`.split(/\s+/),
);

export function isFiller(word: string): boolean {
  return word.length < 3 || fillers.has(word);
}

const written: Readonly<Record<string, string>> = {
  zero: "0",
  one: "1",
  two: "2",
  three: "3",
  four: "4",
  five: "5",
  six: "6",
  seven: "7",
  eight: "8",
  nine: "9",
  ten: "10",
  eleven: "11",
  twelve: "12",
};

/** The number that a word writes out; null if it writes none. */
export function numberOfWord(word: string): string | null {
  return Object.hasOwn(written, word) ? (written[word] as string) : null;
}

const unitForms: Readonly<Record<string, string>> = {
  ms: "ms msec millisecond milliseconds",
  us: "us µs microsecond microseconds",
  s: "s sec secs second seconds",
  min: "min mins minute minutes",
  h: "h hr hrs hour hours",
  d: "day days",
  week: "week weeks",
  month: "month months",
  year: "year years",
  "%": "% percent pct",
  B: "b byte bytes",
  KB: "kb kib kilobyte kilobytes",
  MB: "mb mib megabyte megabytes",
  GB: "gb gib gigabyte gigabytes",
  TB: "tb tib terabyte terabytes",
  token: "token tokens",
  char: "char chars character characters",
  line: "line lines",
  px: "px pixel pixels",
  k: "k thousand",
  M: "m million millions",
  x: "x times ×",
  Hz: "hz",
  kHz: "khz",
  MHz: "mhz",
  GHz: "ghz",
  mm: "mm",
  cm: "cm",
  km: "km",
  kg: "kg",
};

const unitByForm = new Map(
  Object.entries(unitForms).flatMap(([unit, forms]) => forms.split(" ").map((form) => [form, unit] as const)),
);

/** One name for every way to write a unit; null if it is none. */
export function unitOf(word: string): string | null {
  return unitByForm.get(word.toLowerCase()) ?? null;
}

const irregular: Readonly<Record<string, string>> = {
  kept: "keep",
  written: "write",
  wrote: "write",
  rewritten: "rewrite",
  rewrote: "rewrite",
  built: "build",
  ran: "run",
  sent: "send",
  made: "make",
  found: "find",
  took: "take",
  taken: "take",
  gave: "give",
  given: "give",
  held: "hold",
  shown: "show",
  chose: "choose",
  chosen: "choose",
  broke: "break",
  broken: "break",
  began: "begin",
  begun: "begin",
  left: "leave",
  lost: "lose",
  read: "read",
  told: "tell",
  thrown: "throw",
  threw: "throw",
};

const stems = new Map<string, string>();
const stemsMax = 50_000;

/** Words of one family become one: enough to find a statement again that was put another way. */
export function stemOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  // The same words come again and again, and are asked for by the thousand.
  if (stems.size >= stemsMax) stems.clear();
  const stem = makeStem(word);
  stems.set(word, stem);
  return stem;
}

function makeStem(word: string): string {
  const known = Object.hasOwn(irregular, word) ? (irregular[word] as string) : word;
  let stem = known.endsWith("'s") ? known.slice(0, -2) : known;
  if (stem.length > 5 && stem.endsWith("ing")) stem = stem.slice(0, -3);
  else if (stem.length > 4 && stem.endsWith("ied")) stem = `${stem.slice(0, -3)}y`;
  else if (stem.length > 4 && stem.endsWith("ies")) stem = `${stem.slice(0, -3)}y`;
  else if (stem.length > 4 && stem.endsWith("ed")) stem = stem.slice(0, -2);
  else if (stem.length > 4 && stem.endsWith("es")) stem = stem.slice(0, -2);
  else if (stem.length > 3 && stem.endsWith("s") && !stem.endsWith("ss")) stem = stem.slice(0, -1);
  if (stem.length > 3 && stem.endsWith("e")) stem = stem.slice(0, -1);
  const last = stem.at(-1) as string;
  const isDoubled = stem.length > 4 && last === stem.at(-2) && !"lsz".includes(last);
  return isDoubled ? stem.slice(0, -1) : stem;
}
