import { type CommandLine, isReadVerb } from "../../commands/index.ts";
import { stringField, type WireFields, wireFields } from "./schema.ts";

/** True for the names of our own tools. */
export type OwnTool = (name: string) => boolean;

/** One upstream response of an answer, counted. */
type AnswerRound = {
  readonly usage: WireFields;
  readonly stop: string | null;
  ownCalls: number;
  otherCalls: number;
  commandLines: number;
  /** One of the command lines reads something. */
  hasReadCommand: boolean;
  /** The client got some text. */
  hasShownText: boolean;
};

/** The figures of a prompt: those of the last round show how full the window is. */
const promptFields = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
] as const;

/** The rounds that make one answer for a client: how each ended, and what they cost together. */
export class AnswerRounds {
  #earlier: readonly AnswerRound[] = [];
  #current: AnswerRound = emptyRound();
  /** The usage in the first event of the answer, which the client saw before later rounds were known. */
  #firstUsage: WireFields = {};

  get hasEarlier(): boolean {
    return this.#earlier.length > 0;
  }

  /** The round called our tools, and no tool that the client would have to run. */
  get hasOwnCallsOnly(): boolean {
    return this.#current.ownCalls > 0 && this.#current.otherCalls === 0;
  }

  /** The client does not get all content of the round. */
  get isFiltered(): boolean {
    return this.hasOwnCallsOnly || this.#current.commandLines > 0;
  }

  /** The round waits for our results: the client has nothing to answer. */
  get isWaitingForUs(): boolean {
    const { ownCalls, otherCalls, commandLines, hasReadCommand, hasShownText, stop } = this.#current;
    if (otherCalls > 0) return false;
    if (ownCalls > 0) return stop === "tool_use";
    return commandLines > 0 && (hasReadCommand || !hasShownText) && stop === "end_turn";
  }

  noteCall(isOwn: boolean): void {
    if (isOwn) this.#current.ownCalls += 1;
    else this.#current.otherCalls += 1;
  }

  /** Notes a text that has ended: its command lines; `isShown` if the client gets some of it. */
  noteText(lines: readonly CommandLine[], isShown: boolean): void {
    const round = this.#current;
    round.commandLines += lines.length;
    round.hasReadCommand ||= lines.some(({ command }) => command.ok && isReadVerb(command.value.verb));
    round.hasShownText ||= isShown;
  }

  /** Notes the usage of a message's start or end, where later figures win, and the stop reason. */
  noteUsage(usage: unknown, stop: string | null = null): void {
    const merged = { ...this.#current.usage, ...wireFields(usage) };
    this.#current = { ...this.#current, usage: merged, stop: stop ?? this.#current.stop };
  }

  /** Notes the usage of a message's start; the client sees that of the first round. */
  noteStartUsage(usage: unknown): void {
    this.noteUsage(usage);
    if (!this.hasEarlier) this.#firstUsage = wireFields(usage) ?? {};
  }

  beginRound(): void {
    this.#earlier = [...this.#earlier, this.#current];
    this.#current = emptyRound();
  }

  /** The stop reason for the client: it does not know of calls that it cannot see. */
  stopFor(stop: string | null): string | null {
    return this.isWaitingForUs ? "end_turn" : stop;
  }

  /** The usage for the client: the prompt of the last round, the output of all, and each round by itself. */
  usageFor(usage: WireFields): WireFields {
    const all = [...this.#earlier, { ...this.#current, usage: { ...this.#current.usage, ...usage } }];
    const last = all.at(-1)?.usage ?? {};
    const prompt = promptFields.filter((name) => last[name] !== undefined).map((name) => [name, last[name]]);
    const output = all.reduce((sum, one) => sum + numberIn(one.usage, "output_tokens"), 0);
    const iterations = all.map((one) => ({ type: "message", ...figuresIn(one.usage) }));
    const shown = alignToFirst({ ...usage, ...Object.fromEntries(prompt) }, this.#firstUsage);
    return { ...shown, output_tokens: output, iterations };
  }
}

/** The parts of a prompt: written to the cache, read from it, and neither. */
const promptParts = ["cache_creation_input_tokens", "cache_read_input_tokens", "input_tokens"] as const;

/**
 * Some clients keep the first figure of a part if the last one is zero. For such a part we send the first
 * figure again and take it from the largest other part, so that the parts still add up to the size of the
 * prompt. The figures of each round stay true.
 */
function alignToFirst(usage: WireFields, firstUsage: WireFields): WireFields {
  const aligned: Record<string, unknown> = { ...usage };
  for (const part of promptParts) {
    const kept = numberIn(firstUsage, part);
    const larger = promptParts.filter((name) => name !== part && numberIn(aligned, name) > kept);
    const [from] = larger.toSorted((a, b) => numberIn(aligned, b) - numberIn(aligned, a));
    if (kept === 0 || numberIn(aligned, part) > 0 || from === undefined) continue;
    aligned[part] = kept;
    aligned[from] = numberIn(aligned, from) - kept;
  }
  return aligned;
}

function emptyRound(): AnswerRound {
  const counts = { ownCalls: 0, otherCalls: 0, commandLines: 0 };
  return { usage: {}, stop: null, ...counts, hasReadCommand: false, hasShownText: false };
}

function figuresIn(usage: WireFields): WireFields {
  const names = [...promptFields, "output_tokens"];
  return Object.fromEntries(names.filter((name) => name in usage).map((name) => [name, usage[name]]));
}

function numberIn(usage: WireFields, name: string): number {
  const value = usage[name];
  return typeof value === "number" ? value : 0;
}

/** The owner of the tool that a content block calls; null if it calls none. */
export function callOwner(block: WireFields | null, isOwn: OwnTool): "own" | "other" | null {
  const type = stringField(block, "type");
  if (type !== "tool_use") return null;
  return isOwn(stringField(block, "name") ?? "") ? "own" : "other";
}

export function isReasoningBlock(block: WireFields | null): boolean {
  return stringField(block, "type")?.endsWith("thinking") === true;
}
