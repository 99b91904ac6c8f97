import { sha256Hex } from "../../src/base/index.ts";
import type { SentRequestUnit } from "../../src/exchange/index.ts";
import { continuesOwnLine, isOwnLine } from "../../src/notes/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { manifestStart } from "../support/own-lines.ts";
import type { Posted } from "../support/planner-kit.ts";
import { checkCleared } from "./check-cleared.ts";
import { checkComplete } from "./check-complete.ts";
import type { Client } from "./client.ts";
import { checkRounds } from "./command-calls.ts";
import { failLaw } from "./law-error.ts";
import {
  type Block,
  blocksOf,
  type Message,
  nonce,
  type SeenBody,
  type SeenUnit,
  saysBlock,
  seeBody,
  textsIn,
  unitsOf,
} from "./seen-body.ts";
import { shownIn } from "./shown-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const modelTraits = anthropic.traits.model;

/** What is known of a stream from outside: conversations that share a name share it. */
export type Stream = {
  wasManaged: boolean;
  /** Whether the planner was restarted and has not been asked about it since. */
  isForgotten: boolean;
  /** What the user does not want sent: the words, and what stands for them. */
  readonly withheld: Map<string, string>;
  /** Results that are withheld whatever they say, by how what they say begins. */
  readonly withheldCalls: Map<string, string>;
  /** Those of earlier processes, which may still be shown so. */
  readonly onceWithheld: Map<string, string>;
  /** The same as the planner was told. */
  readonly withheldUnits: Set<string>;
  /** What was shown in other words at some time, by what it says. */
  readonly rewritten: Map<string, Set<string>>;
  /** Calls whose results an earlier process showed so: without their own words one form of them is known. */
  readonly shaken: Set<string>;
  /** Results that were sent with a header of ours in them: after a restart they are such, too. */
  readonly headed: Set<string>;
  /** What the ledger calls what it has sent, by what it says. */
  readonly keys: Map<string, string>;
  /** The numbers of sent blocks, by their text. */
  readonly blocks: Map<string, number>;
};

/** What one conversation was sent as so far. */
export type Account = {
  /** What came before each thing said, whenever something new was allowed to come before it. */
  readonly canon: Map<string, ReadonlySet<string>>;
  last: LastTurn | null;
  /** Whether what comes before may be something new this once. */
  isFree: boolean;
  /** How often the past may break: once for each time that memory was lost. */
  excuses: number;
};
type LastTurn = {
  readonly said: readonly string[];
  readonly seen: SeenBody;
  /** How it was sent, and to which model. */
  readonly style: string;
  readonly startedMs: number;
  readonly cached: number;
};

export type Look = {
  readonly client: Client;
  readonly stream: Stream;
  readonly account: Account;
  readonly posted: Posted;
  /** What the log was told of the request, in order; empty where it went as it came. */
  readonly path: readonly SentRequestUnit[];
  /** As the client means them, whatever form it wrote them in. */
  readonly messages: readonly Message[];
  readonly wire: Buffer;
  readonly purpose: "turn" | "beside";
  readonly nowMs: number;
  /** The user has just asked for other words, so the past may change once. */
  readonly isEpoch: boolean;
  /** Nothing is cached any more, so everything may begin anew. */
  readonly isCold: boolean;
};

export function checkLaws(look: Look): void {
  const { posted, stream, wire } = look;
  const { sending, attempts } = posted;
  checkRefusals(look);
  checkManaged(look);
  if (sending.rendering === "raw") {
    const isSame = Buffer.compare(Buffer.concat(sending.pieces), wire) === 0;
    if (!isSame) failLaw("L1 raw bytes", "the client's bytes were changed", "");
  }
  for (const { body } of [...attempts, ...posted.rounds]) checkWithheld(look, body);
  checkRounds(posted);
  if (posted.answer.status !== 200) return;
  if (sending.rendering !== "raw") {
    stream.wasManaged = true;
    noteKeys(look);
    const seen = seeBody(attempts.at(-1)?.body ?? "{}");
    const shown = shownIn(seen.units, look.path);
    checkComplete(look, shown);
    checkCleared(seen, shown);
    if (seen.marks > 4) failLaw("L2 marks", `${seen.marks} marks`, "");
    checkOwnLines(seen);
    if (look.purpose === "turn") checkPast(look, seen);
  } else if (look.purpose === "turn") look.account.last = null;
}

/** Whatever of ours a model may repeat is known again, line by line, so that no client gets to see it. */
function checkOwnLines({ units }: SeenBody): void {
  for (const { section, isOwn, isHidden, text } of units) {
    if (section !== "messages" || !isOwn || isHidden || text.startsWith("# Context notes")) continue;
    const lost = text.split("\n").find((line) => !isOwnLine(line, nonce) && !continuesOwnLine(line));
    if (lost !== undefined) failLaw("own lines", "a line of ours that is not known again", lost);
  }
}

const heldCharsMax = 4_096;

/** No line of ours in what the client gets, unless the model says nothing else. */
export function checkPassed(content: readonly Block[]): void {
  for (const { text } of content) {
    const lines = typeof text === "string" ? text.split("\n") : [];
    // So much is held at most where a text begins with lines of ours, and then it is let go.
    if (String(text).length > heldCharsMax) continue;
    // The mark of a quotation may have passed by itself: half a line is not taken out.
    const own = lines.find((line) => !line.startsWith(">") && isOwnLine(line, nonce));
    const isAlone = lines.every(
      (line) => line.trim() === "" || isOwnLine(line, nonce) || continuesOwnLine(line),
    );
    if (own !== undefined && !isAlone) failLaw("own lines", "the client got one of ours", own);
  }
}

/** What is managed stays so: anything else would be a mistake of ours that was caught. */
function checkManaged({ posted, account, client, purpose }: Look): void {
  const { rendering } = posted.sending;
  const wasManaged = account.last?.style === `managed ${client.model}`;
  if (purpose !== "turn" || client.mode !== "auto" || !wasManaged || account.excuses > 0) return;
  if (rendering !== "managed") failLaw("L1 stays managed", `sent ${rendering}`, "");
}

/** What the ledger says it has sent, to be spoken of later. */
function noteKeys({ posted, stream }: Look): void {
  for (const { key, bytes, origin, numbered } of posted.sending.sent?.fresh ?? []) {
    const block = JSON.parse(Buffer.from(bytes).toString("utf8") || "{}") as Block;
    const says = origin === "client" ? saysBlock("user", block) : null;
    if (says !== null) stream.keys.set(says, key);
    if (says !== null && numbered !== null) stream.blocks.set(says, numbered.block);
    if (block.type === "tool_result" && JSON.stringify(block).includes(nonce)) stream.headed.add(says ?? "");
  }
}

function checkRefusals({ posted, stream, account, client }: Look): void {
  const { attempts, answer, sending } = posted;
  const first = attempts[0];
  if (sending.refusal !== null) failLaw("L1 refusal", "nothing was sent", sending.refusal.code);
  if (attempts.length > 1 && first !== undefined && first.sending.rendering !== "raw") {
    if (account.excuses === 0) failLaw("L1 attempts", `twice without need: ${first.problem}`, excerpt(first));
    startAnew(account);
  }
  if (answer.status === 200) return;
  const isOwnDoing = !stream.wasManaged && sending.rendering === "raw" && client.mode !== "auto";
  const problem = attempts
    .map(({ problem: why, sending: { rendering } }) => `${rendering}: ${why}`)
    .join(" | ");
  if (!isOwnDoing) failLaw("L1 the client breaks", problem, attempts.map(excerpt).join("\n\n"));
}

function checkWithheld({ stream: { withheld }, messages }: Look, body: string): void {
  for (const words of withheld.keys()) {
    if (!body.includes(words)) continue;
    const theirs = withoutAnswers(body);
    if (theirs.includes(words)) failLaw("withheld", `sent after all: ${words}`, around(theirs, words));
    const said = messages.filter(({ role }) => role === "assistant");
    if (!JSON.stringify(said).includes(words)) failLaw("withheld", `put in the model's mouth: ${words}`, "");
  }
}

/** A model may have repeated a result: its own words are another block, which nobody has withheld. */
function withoutAnswers(body: string): string {
  const { messages, ...front } = JSON.parse(body) as { readonly messages: readonly Message[] };
  const left = messages.map(({ role, content }) =>
    role === "assistant" ? blocksOf(content).filter(({ type }) => type !== "text") : content,
  );
  return JSON.stringify([front, left]);
}

function textsOf(messages: readonly Message[]): readonly string[] {
  return textsIn(unitsOf(messages)).map(({ says }) => says);
}

/** Along a path nothing changes that was sent once. */
function checkPast(look: Look, seen: SeenBody): void {
  const { account, posted, stream, messages, nowMs, isEpoch, isCold, client } = look;
  const { rendering } = posted.sending;
  const style = `${rendering} ${seen.model}`;
  const hasEpoch = (posted.sending.sent?.epoch ?? null) !== null;
  // A conversation without a name that nobody has answered yet is known by nothing.
  const isUnknown = client.style.naming === "none" && !messages.some(({ role }) => role === "assistant");
  const mayDiffer =
    account.isFree || isEpoch || hasEpoch || isCold || isUnknown || account.last?.style !== style;
  if (hasEpoch) checkEpoch(look, seen);
  if (mayDiffer) account.last = null;
  // What was sent before memory was lost may be found again or not.
  if (account.excuses > 0) account.canon.clear();
  const why = account.last === null ? null : prefixBreak(account.last, { said: textsOf(messages), seen });
  const other = why ?? canonBreak(account.canon, messages, { seen, rendering, mayDiffer });
  if (other !== null) {
    const isShaken = textsOf(messages).some((says) => stream.shaken.has(resultOf(says)));
    if (account.excuses === 0 && !isShaken) failLaw("L2/L3 the past changed", other, "");
    startAnew(account);
    canonBreak(account.canon, messages, { seen, rendering, mayDiffer: true });
  }
  checkCache(look, seen);
  const { usage } = posted.answer;
  account.isFree = false;
  // An excuse that was not needed at once is none later.
  account.excuses = 0;
  const cached = (usage?.cache_read_input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0);
  const round = posted.rounds.at(-1);
  const last = round === undefined ? seen : seeBody(round.body);
  account.last = { said: textsOf(messages), seen: last, style, startedMs: nowMs, cached };
}

/** What begins an epoch has a reason that is true, and leaves alone what stands in front of its cut. */
function checkEpoch({ account, posted, messages, isCold, path, stream }: Look, seen: SeenBody): void {
  const epoch = posted.sending.sent?.epoch ?? null;
  if (epoch === null) return;
  const { cut, reason } = epoch;
  const hasResult = messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true;
  if (reason === "cold" && !isCold) failLaw("L2 epoch", "it was not cold", "");
  if (reason === "price" && hasResult) failLaw("L2 epoch", "a warm cache was given up inside a run", "");
  const { last, excuses } = account;
  // What the user withholds may be found on an older path first, and is taken out there.
  const isWithheld = reason === "user" && stream.withheld.size + stream.onceWithheld.size > 0;
  if (isWithheld || cut === null || last === null || excuses > 0) return;
  if (!isContinued(last, { said: textsOf(messages), seen })) return;
  const shown = shownIn(seen.units, path);
  const at = shown.findIndex(({ report }) => report?.id === cut);
  // What once went up as it came was never told, and nothing behind a cut is such.
  const front = shown.slice(0, at === -1 ? shown.findIndex(({ report }) => report !== null) : at + 1);
  const before = withoutDropped(last.seen.units);
  const compared = front.slice(0, followableTo(before, seen));
  const other = compared.find(({ bytes }, index) => bytes !== before[index]?.bytes);
  if (other !== undefined)
    failLaw("L2 epoch", "what stands in front of the cut was not sent before", other.bytes);
}

/** A model that takes no system messages among the others cannot go on with what stands behind the first. */
function followableTo(units: readonly SeenUnit[], { model }: SeenBody): number {
  const isSystem = ({ section, bytes }: SeenUnit): boolean =>
    section === "messages" && /^\{[^}]*"role":"system"/.test(bytes);
  const first = modelTraits(model).hasMidSystem ? -1 : units.findIndex(isSystem);
  return first === -1 ? Number.POSITIVE_INFINITY : first;
}

/** Which call's result it is, if it is one. */
export function resultOf(says: string): string {
  return /^result \S+/.exec(says)?.[0] ?? "";
}

export function forget(account: Account): void {
  account.isFree = true;
  account.last = null;
}

function startAnew(account: Account): void {
  account.excuses = Math.max(0, account.excuses - 1);
  forget(account);
}

type Next = { readonly said: readonly string[]; readonly seen: SeenBody };

/** Where a conversation only went on, what was sent before is the beginning of what is sent now. */
function prefixBreak(last: LastTurn, { said, seen }: Next): string | null {
  if (!isContinued(last, { said, seen })) return null;
  const before = withoutDropped(last.seen.units);
  const at = before.findIndex(({ bytes }, index) => seen.units[index]?.bytes !== bytes);
  if (at === -1 && last.seen.cleared.size === seen.cleared.size) return null;
  if (at === -1) return `${seen.cleared.size} results are left out, and not ${last.seen.cleared.size}`;
  const [was, now] = [before, seen.units].map((units) => brief(units.slice(Math.max(0, at - 1), at + 8)));
  return `unit ${at}: was ${was}\n now ${now}`;
}

function isContinued(last: LastTurn, { said, seen }: Next): boolean {
  const isLonger = said.length > last.said.length && last.said.every((one, at) => one === said[at]);
  // More words of the user's in the same message are another message.
  const isAnswered = /^(?:assistant|call) /.test(said[last.said.length] ?? "");
  return isLonger && isAnswered && headOf(last.seen) === headOf(seen);
}

/** The tools and system texts, in whatever form they were written. */
function headOf({ units }: SeenBody): string {
  const head = units.filter(({ section, isOwn }) => section !== "messages" && !isOwn);
  return head
    .map(({ says }) => says)
    .sort()
    .join("\n");
}

/** A last text that is sent for one turn only. */
function withoutDropped(units: readonly SeenUnit[]): readonly SeenUnit[] {
  const last = units.at(-1);
  const isDropped = last?.isOwn === true && manifestStart.test(last.bytes);
  return isDropped && last.bytes.startsWith('{"type"') ? units.slice(0, -1) : units;
}

type Seen = { readonly seen: SeenBody; readonly rendering: string; readonly mayDiffer: boolean };

/** What stands before each thing said, up to it, is the same whenever it is sent again. */
function canonBreak(
  canon: Map<string, ReadonlySet<string>>,
  messages: readonly Message[],
  { seen, rendering, mayDiffer }: Seen,
): string | null {
  const pasts = digests(seen.units.map(({ bytes }) => bytes));
  const wanted = unitsOf(messages);
  // A conversation that was sent unmanaged continues behind another head.
  const front = seen.units.some(({ section, isOwn }) => section === "system" && isOwn);
  // Equal words after other reasoning are another place.
  const keys = digests([`${rendering} ${front} ${headOf(seen)}`, ...wanted.map(({ bytes }) => bytes)]);
  const said = textsIn(wanted);
  let shown = "";
  for (const [at, { says, end }] of textsIn(seen.units).entries()) {
    // Whether and how words are shown otherwise is the user's to say: behind others it is another place.
    if (says !== said[at]?.says) shown += ` ${at} ${says}`;
    const key = `${keys[(said[at]?.end ?? 0) + 1] ?? ""}${shown}`;
    const past = pasts[end] ?? "";
    const known = canon.get(key);
    if (known?.has(past) === false && !mayDiffer) return `what came before thing ${at}: ${says}`;
    canon.set(key, new Set([...(known ?? []), past]));
  }
  return null;
}

/** For each text a digest of everything up to it. */
function digests(texts: readonly string[]): readonly string[] {
  let past = "";
  return texts.map((text) => {
    past = sha256Hex(`${past} ${text}`);
    return past;
  });
}

const lifetimeMs = 5 * 60_000;

/** What was written to the cache by the turn before is read by the next one. */
function checkCache({ account, messages, nowMs, posted, client }: Look, seen: SeenBody): void {
  const { last } = account;
  if (last === null || nowMs - last.startedMs >= lifetimeMs || last.seen.model !== seen.model) return;
  if (!isContinued(last, { said: textsOf(messages), seen }) || client.style.marks === "none") return;
  const read = posted.answer.usage?.cache_read_input_tokens ?? 0;
  if (read < last.cached) failLaw("cache", `${read} read of ${last.cached} that were cached`, "");
}

function excerpt({ body }: { readonly body: string }): string {
  return body.length <= 1_800 ? body : `...${body.slice(-1_800)}`;
}

function brief(units: readonly SeenUnit[]): string {
  return units.map(({ bytes }) => bytes.slice(0, 120)).join("\n   ");
}

function around(body: string, words: string): string {
  const at = body.indexOf(words);
  return body.slice(Math.max(0, at - 100), at + 200);
}
