import { type OriginalIndex, statementsWith, weightOf } from "./acceptance-index.ts";
import { type Reason, shorten } from "./acceptance-reasons.ts";
import { isFact, type Statement, type Token } from "./acceptance-text.ts";
import { isStrongNegation, stemOf } from "./acceptance-words.ts";

/** A number, a name, or a word with a contrary. Only values of one group can take each other's place. */
type Slot = {
  readonly group: string;
  readonly value: string;
  readonly token: Token;
  /** Each word around it, and how near it is: 1 for a neighbour. */
  readonly around: Around;
  /** The names in front of it, and the last word. */
  readonly anchors: readonly string[];
  readonly statement: Statement;
};
type Around = ReadonlyMap<string, number>;

/**
 * Values in the wrong place. A paraphrase shares few words with its original, but the words around a value
 * are closer to those around it in the original than to those around another value.
 */
export function exchangedValues(index: OriginalIndex, one: Statement): readonly Reason[] {
  const own = slotsIn(one);
  return own.flatMap((slot): readonly Reason[] => {
    if (isFact(slot.token) && isRepeated(index, slot, own))
      return [reasonFor(slot, "twice, and the original once")];
    const other =
      replacedBy(index, slot, own) ?? (isFact(slot.token) ? exchangedWith(index, slot, own) : null);
    return other === null ? [] : [reasonFor(slot, `where the original has "${nameOf(other)}"`, other)];
  });
}

function reasonFor(slot: Slot, where: string, other = slot): Reason {
  const text = `The summary has "${nameOf(slot)}" ${where}: ${shorten(slot.statement.text)}`;
  if (slot.token.unit !== other.token.unit && slot.value === other.value)
    return { kind: "unit-changed", piece: nameOf(slot), text };
  if (isFact(slot.token)) return { kind: "fact-elsewhere", piece: nameOf(slot), text };
  return {
    kind: slot.group === "outcome" ? "outcome-turned" : "constraint-lost",
    piece: nameOf(other),
    text,
  };
}

function nameOf({ token }: Slot): string {
  return token.kind === "number" ? token.key.slice(1) : token.word;
}

/** A fact that the summary has twice and the original once has taken the place of another. */
function isRepeated(index: OriginalIndex, { value }: Slot, own: readonly Slot[]): boolean {
  const there = statementsWith(index, value).flatMap(slotsIn);
  const count = (slots: readonly Slot[]): number => slots.filter((slot) => slot.value === value).length;
  return count(own) > 1 && count(there) === 1;
}

/** Another value must fit this much better. In data, names stand beside many words by chance. */
const required = {
  number: { times: 1.25, more: 0.7 },
  count: { times: 1.5, more: 2 },
  nameInProse: { times: 1.5, more: 1.2 },
  nameInData: { times: 2, more: 2 },
  word: { times: 1.25, more: 1 },
} as const;

function requiredOf(
  index: OriginalIndex,
  { kind, key, unit }: Token,
): (typeof required)[keyof typeof required] {
  if (kind === "number") return /^#\d$/.test(key) && unit === null ? required.count : required.number;
  if (kind !== "name") return required.word;
  return index.isProse ? required.nameInProse : required.nameInData;
}

/** The summary already has a value of this group from the same statement. */
const factorIfUsed = 0.7;
/** A path is seldom confused with a flag. */
const factorIfOtherGroup = 0.6;
/** The share of the words around it at which a word with a contrary stands in the same place. */
const shareMin = 0.25;

/** The value of the original that fits better in this place. */
function replacedBy(index: OriginalIndex, slot: Slot, own: readonly Slot[]): Slot | null {
  const { group, token, around } = slot;
  // A number that the original lacks is a count, or an amount in another unit.
  if (token.kind === "number" && !index.places.has(slot.value)) return null;
  const isStated = (value: string, of = own): boolean => of.some((one) => isSameValue(value, one.value));
  let [fit, other, otherFit]: [number, Slot | null, number] = [fitBesideLines(index, slot), null, 0];
  for (const there of candidatesFor(index, slot)) {
    const isGroup = there.group === group;
    const isName = token.kind === "name" && there.token.kind === "name" && index.isProse;
    const isValue = isSameValue(there.value, slot.value);
    const hasUnit = token.unit === null || there.token.unit === token.unit;
    if ((!isGroup && !isName) || (!hasUnit && !isValue)) continue;
    const isSame = isValue && (hasUnit || there.token.unit === null);
    if (!isValue && isFact(token) && isStated(there.value)) continue;
    const isUsed =
      !isSame &&
      isFact(token) &&
      slotsIn(there.statement).some((its) => its.group === group && isStated(its.value));
    const score = closeness(index, around, there.around) * (isUsed ? factorIfUsed : 1);
    if (isSame) fit = Math.max(fit, score);
    else if (score * (isGroup ? 1 : factorIfOtherGroup) > otherFit)
      [other, otherFit] = [there, score * (isGroup ? 1 : factorIfOtherGroup)];
  }
  const { times, more } = requiredOf(index, token);
  if (!isFact(token) && otherFit < shareMin * closeness(index, around, around)) return null;
  return otherFit > fit * times + more ? other : null;
}

/** A path may be given by its end, a dotted name by its last part. */
function isSameValue(there: string, here: string): boolean {
  return (
    there === here || there.endsWith(`/${here}`) || here.endsWith(`/${there}`) || there.endsWith(`.${here}`)
  );
}

/** The other fact, if each of the two stands behind words that the original has only with the other. */
function exchangedWith(index: OriginalIndex, slot: Slot, own: readonly Slot[]): Slot | null {
  const isTogether = (one: string, other: string): boolean => {
    const places = index.places.get(other) ?? [];
    return (index.places.get(one) ?? []).some((at) => places.includes(at));
  };
  const isOf = ({ anchors }: Slot, value: string, other: string): boolean =>
    anchors.some((key) => key !== value && isTogether(key, value) && !isTogether(key, other));
  const fitsAs = (a: Slot, b: Slot): boolean => isOf(a, b.value, a.value) && !isOf(a, a.value, b.value);
  const others = own.filter(({ group, value }) => group === slot.group && value !== slot.value);
  return others.find((other) => fitsAs(slot, other) && fitsAs(other, slot)) ?? null;
}

const nearnessOfNextLine = 1 / 8;

/** The lines before and behind count too: a heading belongs to the facts below it. */
function fitBesideLines({ places, statements, ...index }: OriginalIndex, { around, value }: Slot): number {
  const fits = (places.get(value) ?? []).map((at) => {
    const beside = [statements[at - 1], statements[at + 1]].flatMap((one) => one?.tokens ?? []);
    const words = beside.flatMap(keysOfToken).map((key) => [key, nearnessOfNextLine] as const);
    return closeness({ places, statements, ...index }, around, new Map(words));
  });
  return Math.max(0, ...fits);
}

/** Words in more statements than this do not lead to one of them. */
const placesMax = 24;

/** The slots in the statements that have the value itself, or words around it. */
function candidatesFor({ places, statements }: OriginalIndex, { value, around }: Slot): readonly Slot[] {
  const found = new Set(places.get(value));
  for (const word of around.keys()) {
    const having = places.get(word) ?? [];
    if (having.length <= placesMax) for (const at of having) found.add(at);
  }
  return [...found].flatMap((at) => slotsIn(statements[at] as Statement));
}

function closeness(index: OriginalIndex, one: Around, other: Around): number {
  let sum = 0;
  for (const [word, near] of one) sum += weightOf(index, word) * Math.sqrt(near * (other.get(word) ?? 0));
  return sum;
}

/** In a row of data every fact stands beside facts, which tells nothing. */
const rowFactsMin = 41;
const slotsByStatement = new WeakMap<Statement, readonly Slot[]>();

function slotsIn(statement: Statement): readonly Slot[] {
  const known = slotsByStatement.get(statement);
  if (known !== undefined) return known;
  const { tokens } = statement;
  const isRow = tokens.filter(isFact).length >= rowFactsMin;
  const slots = (isRow ? [] : tokens).flatMap((token, at): readonly Slot[] => {
    const [group, value] = groupOf(tokens, at) ?? [];
    if (group === undefined || value === undefined) return [];
    return [
      { group, value, token, around: wordsAround(tokens, at), anchors: anchorsOf(tokens, at), statement },
    ];
  });
  slotsByStatement.set(statement, slots);
  return slots;
}

/** Words that are often exchanged for their contrary. */
const contraries: readonly (readonly [group: string, one: RegExp, other: RegExp])[] = [
  [
    "duty",
    /^(?:must|shall|required?|requires|mandatory)$/,
    /^(?:may|might|can|could|optional|allow(?:s|ed)|permitted)$/,
  ],
  ["always", /^(?:always|every|each)$/, /^(?:sometimes|usually|often|occasionally|rarely)$/],
  ["only", /^(?:only|solely|exclusively)$/, /^(?:also|even|anybody|anyone|everybody)$/],
  ["until", /^(?:until|till|before)$/, /^(?:after|afterwards|once)$/],
  ["unless", /^unless$/, /^if$/],
  ["except", /^(?:except|excluding|besides)$/, /^(?:including|includes?)$/],
  ["bound: most", /^most$/, /^least$/],
  ["bound: maximum", /^max(?:imum)?$/, /^min(?:imum)?$/],
  [
    "bound: less",
    /^(?:under|below|within|less|fewer|smaller|shorter)$/,
    /^(?:over|above|more|longer|larger|greater|exceed\w*)$/,
  ],
];

/** The group of a token and its value in it; null if nothing can take its place. */
function groupOf(tokens: readonly Token[], at: number): readonly [group: string, value: string] | null {
  const { kind, key, word, mark } = tokens[at] as Token;
  if (kind === "number") return ["number", key];
  if (kind === "name") return [sortOf(key), key];
  const near = (from: number, to: number): readonly Token[] =>
    tokens.slice(Math.max(0, at + from), at + to + 1);
  const next = tokens[at + 1];
  // "Passes a number" is no outcome.
  if (word === "passes" && (next?.kind === "number" || next?.word === "a")) return null;
  if (mark === "failed" || mark === "passed") {
    const isNegated = near(-2, -1).some((one) => /^(?:not|never|cannot)$|n't$/.test(one.word));
    return ["outcome", (mark === "passed") === isNegated ? "-" : "+"];
  }
  const [group, first] = contraries.find(([, one, other]) => one.test(word) || other.test(word)) ?? [];
  // "Also" at the start says nothing, and neither does "until then".
  if (group === undefined || (word === "also" && at === 0) || next?.word === "then") return null;
  const isFirst = first?.test(word) === true;
  if (group.startsWith("bound") && !near(-2, 3).some((one) => one.key.startsWith("#"))) return null;
  if (group.startsWith("bound"))
    return [group, isFirst === /^not?$/.test(tokens[at - 1]?.word ?? "") ? "-" : "+"];
  // "No data may" and "only these may" leave no choice.
  const isNot = near(1, 2).some((one) => /^(?:not|never|neither)$/.test(one.word));
  const isBound =
    isNot ||
    near(-3, -1).some((one) => isStrongNegation(one.word)) ||
    near(-5, 5).some((one) => one.mark === "only");
  return group === "duty" && isBound ? null : [group, isFirst ? "+" : "-"];
}

function sortOf(name: string): string {
  if (/^\d\d?:\d\d/.test(name)) return "time";
  if (name.startsWith("-")) return "flag";
  if (/\/|\.[a-z]{1,5}$/.test(name)) return "path";
  if (name.includes("_")) return "snake";
  return /\d/.test(name) ? "id" : "name";
}

const anchorReach = 4;

function anchorsOf(tokens: readonly Token[], at: number): readonly string[] {
  const before = tokens.slice(Math.max(0, at - anchorReach), at).filter(({ key }) => key !== "");
  const last = before.findLast(({ kind }) => kind === "word");
  return before.filter((token) => token.kind === "name" || token === last).map(({ key }) => key);
}

/** Words farther away belong to something else. */
const reachWords = 8;

function wordsAround(tokens: readonly Token[], at: number): Around {
  const around = new Map<string, number>();
  for (const side of [tokens.slice(0, at).reverse(), tokens.slice(at + 1)]) {
    const near = side
      .map(keysOfToken)
      .filter(({ length }) => length > 0)
      .slice(0, reachWords);
    for (const [distance, keys] of near.entries())
      for (const key of keys) around.set(key, Math.max(around.get(key) ?? 0, 1 / (distance + 1)));
  }
  return around;
}

/** A path also counts as the name of its file. */
function keysOfToken({ key, kind }: Token): readonly string[] {
  if (key === "" || kind !== "name") return key === "" ? [] : [key];
  return [...new Set([key, stemOf(/[^/.]+(?=\.[a-z]{1,5}$|$)/.exec(key)?.[0] ?? key)])];
}
