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
    forbids forbidden prohibited prohibit prohibits disallow disallowed unable instead nobody nowhere
    lack lacks lacked lacking missing off-limits refrain prevent prevents prevented`,
  obligation: `must shall required requires require mandatory obligatory requirement`,
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

/** Finds the mark of a word. It needs the word before: some words mark something only behind another. */
export function markOf(word: string, before: string): MarkKind | null {
  if (word === "to") return before === "have" || before === "has" || before === "need" ? "obligation" : null;
  if (word === "most" || word === "least") return before === "at" ? (kindByWord.get(word) ?? null) : null;
  return kindByWord.get(word) ?? (word.endsWith("n't") ? "negation" : null);
}

/** Words that cannot be left out without saying the opposite. */
const strongNegations = new Set(
  `not never no none nothing neither nor cannot nobody nowhere without forbidden prohibited`.split(" "),
);

export function isStrongNegation(word: string): boolean {
  return strongNegations.has(word) || word.endsWith("n't");
}

/**
 * Other ways to say that something is not so, or is not done. They count as said where an original negates,
 * and ask for nothing themselves: there are too many to know which negation stands for which.
 */
const mildNegations =
  /^(?:lack|miss|exclu|except|refus|reject|forbid|prohibit|disallow|den(?:y|ie)|block|prevent|avoid|skip|ignor|omit|drop|remov|fail|invalid|incorrect|disabl|stop|restrict|limit|refrain|unable|impossible|undecided|await|wait|pending|undefined|non|read-only|off-limits)|^(?:only|solely|alone|instead|rather|private|off|out|wrong|few|fewer|hardly|rarely|free|zero|empty|null|unless|otherwise|less)$/;

export function isNegative(word: string): boolean {
  return mildNegations.test(word);
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

const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
const numberWords = new Map([
  ...small.split(" ").map((word, at) => [word, String(at)] as const),
  ..."twenty thirty forty fifty sixty seventy eighty ninety hundred"
    .split(" ")
    .map((word, at) => [word, String(at * 10 + 20)] as const),
]);

/** "Three" is 3; null if the word is no number. */
export function numberOfWord(word: string): string | null {
  return numberWords.get(word) ?? null;
}

/** The spellings of a unit; the first one names it. */
const unitSpellings = `ms,msec,millisecond,milliseconds us,µs,microsecond,microseconds s,sec,secs,second,seconds
  min,mins,minute,minutes h,hr,hrs,hour,hours day,days week,weeks month,months year,years %,percent,pct
  B,byte,bytes KB,kib,kilobyte,kilobytes MB,mib,megabyte,megabytes GB,gib,gigabyte,gigabytes
  TB,tib,terabyte,terabytes token,tokens char,chars,character,characters line,lines px,pixel,pixels k,thousand
  M,million,millions x,times,× Hz kHz MHz GHz mm cm km,kilometre,kilometres,kilometer,kilometers kg
  euro,euros,eur,€ dollar,dollars,usd,$`;

const unitBySpelling = new Map(
  unitSpellings.split(/\s+/).flatMap((line) => {
    const spellings = line.split(",");
    return spellings.map((spelling) => [spelling.toLowerCase(), spellings[0] as string] as const);
  }),
);

/** One name for all spellings of a unit; null if the word is no unit. */
export function unitOf(word: string): string | null {
  return unitBySpelling.get(word.toLowerCase()) ?? null;
}

const irregular = new Map(
  `kept:keep written:write wrote:write rewritten:rewrite rewrote:rewrite built:build ran:run sent:send made:make
  found:find took:take taken:take gave:give given:give held:hold shown:show chose:choose chosen:choose broke:break
  broken:break began:begin begun:begin left:leave lost:lose read:read told:tell thrown:throw threw:throw used:use
  uses:use using:use`
    .split(/\s+/)
    .map((pair) => pair.split(":") as [string, string]),
);

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
  const known = irregular.get(word) ?? word;
  let stem = known.endsWith("'s") ? known.slice(0, -2) : known;
  if (stem.length > 5 && stem.endsWith("ing")) stem = stem.slice(0, -3);
  else if (stem.length > 4 && stem.endsWith("ied")) stem = `${stem.slice(0, -3)}y`;
  else if (stem.length > 4 && stem.endsWith("ies")) stem = `${stem.slice(0, -3)}y`;
  else if (stem.length > 4 && stem.endsWith("ed")) stem = stem.slice(0, -2);
  else if (stem.length > 4 && stem.endsWith("es")) stem = stem.slice(0, -2);
  else if (stem.length > 3 && stem.endsWith("s") && !stem.endsWith("ss")) stem = stem.slice(0, -1);
  else if (stem.length > 7 && /[ts]ion$/.test(stem)) stem = stem.slice(0, -3);
  else if (stem.length > 7 && stem.endsWith("ment")) stem = stem.slice(0, -4);
  if (stem.length > 3 && stem.endsWith("e")) stem = stem.slice(0, -1);
  const last = stem.at(-1) as string;
  const isDoubled = stem.length > 4 && last === stem.at(-2) && !"lsz".includes(last);
  return isDoubled ? stem.slice(0, -1) : stem;
}
