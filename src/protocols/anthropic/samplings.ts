import { type CommandLine, isReading } from "../../commands/index.ts";
import { type Fields, fieldsOf, textIn } from "./schema.ts";

/** Names of tools that are ours, and nobody's who is behind us. */
export type OwnTool = (name: string) => boolean;

/** What one sampling of an answer has come to. */
type Sampling = {
  readonly usage: Fields;
  readonly stop: string | null;
  own: number;
  others: number;
  /** Command lines, whether any of them wants to read something, and whether anything else was said. */
  lines: number;
  reads: boolean;
  says: boolean;
};

/** The figures of a prompt: those of the last sampling say how full the window is. */
const promptFields = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
] as const;

/** The samplings of which one answer for a client is made: how each ended, and what they cost together. */
export class Samplings {
  #before: readonly Sampling[] = [];
  #now: Sampling = noSampling();
  /** What a client was told at the beginning, before anything was known of what would follow. */
  #begun: Fields = {};

  /** Whether there was one before this. */
  get goesOn(): boolean {
    return this.#before.length > 0;
  }

  /** Whether it has called something of ours, and nothing the client would have to do. */
  get callsOwnOnly(): boolean {
    return this.#now.own > 0 && this.#now.others === 0;
  }

  /** Whether the client gets less than was said. */
  get hides(): boolean {
    return this.callsOwnOnly || this.#now.lines > 0;
  }

  /** Whether it waits for us: for the client there is nothing to answer. */
  get waits(): boolean {
    const { own, others, lines, reads, says, stop } = this.#now;
    if (others > 0) return false;
    return own > 0 ? stop === "tool_use" : lines > 0 && (reads || !says) && stop === "end_turn";
  }

  called(isOwn: boolean): void {
    if (isOwn) this.#now.own += 1;
    else this.#now.others += 1;
  }

  /** A text has ended: what it asked of us, and whether the client gets anything of it. */
  spoke(lines: readonly CommandLine[], isShown: boolean): void {
    const now = this.#now;
    now.lines += lines.length;
    now.reads ||= lines.some(({ command }) => command.ok && isReading(command.value.verb));
    now.says ||= isShown;
  }

  /** The usage of a message's beginning or end, where the later says more, and why it stopped. */
  note(usage: unknown, stop: string | null = null): void {
    const merged = { ...this.#now.usage, ...fieldsOf(usage) };
    this.#now = { ...this.#now, usage: merged, stop: stop ?? this.#now.stop };
  }

  /** The same, of a message that the client sees the beginning of. */
  begin(usage: unknown): void {
    this.note(usage);
    if (!this.goesOn) this.#begun = fieldsOf(usage) ?? {};
  }

  next(): void {
    this.#before = [...this.#before, this.#now];
    this.#now = noSampling();
  }

  /** Why the answer stopped, as far as the client is concerned: it knows nothing of calls it cannot see. */
  stopFor(stop: string | null): string | null {
    return this.waits ? "end_turn" : stop;
  }

  /** The prompt of the last one, what all of them have written, and each of them by itself. */
  usageFor(usage: Fields): Fields {
    const all = [...this.#before, { ...this.#now, usage: { ...this.#now.usage, ...usage } }];
    const last = all.at(-1)?.usage ?? {};
    const prompt = promptFields.filter((name) => last[name] !== undefined).map((name) => [name, last[name]]);
    const output = all.reduce((sum, one) => sum + numberIn(one.usage, "output_tokens"), 0);
    const iterations = all.map((one) => ({ type: "message", ...figuresIn(one.usage) }));
    const shown = overBegun({ ...usage, ...Object.fromEntries(prompt) }, this.#begun);
    return { ...shown, output_tokens: output, iterations };
  }
}

/** How a prompt divides into what was written to the cache, read from it, and neither. */
const parts = ["cache_creation_input_tokens", "cache_read_input_tokens", "input_tokens"] as const;

/**
 * Some clients keep what they were told at the beginning where the end says zero. There, that much of the
 * prompt is told as they have it, so that its parts add up to its size; each sampling is told as it was.
 */
function overBegun(usage: Fields, begun: Fields): Fields {
  const told: Record<string, unknown> = { ...usage };
  for (const part of parts) {
    const kept = numberIn(begun, part);
    const rest = parts.filter((name) => name !== part && numberIn(told, name) > kept);
    const [from] = rest.toSorted((a, b) => numberIn(told, b) - numberIn(told, a));
    if (kept === 0 || numberIn(told, part) > 0 || from === undefined) continue;
    told[part] = kept;
    told[from] = numberIn(told, from) - kept;
  }
  return told;
}

function noSampling(): Sampling {
  return { usage: {}, stop: null, own: 0, others: 0, lines: 0, reads: false, says: false };
}

function figuresIn(usage: Fields): Fields {
  const names = [...promptFields, "output_tokens"];
  return Object.fromEntries(names.filter((name) => name in usage).map((name) => [name, usage[name]]));
}

function numberIn(usage: Fields, name: string): number {
  const value = usage[name];
  return typeof value === "number" ? value : 0;
}

/** Whether a content block calls a tool, and whose. */
export function callIn(block: Fields | null, isOwn: OwnTool): "own" | "other" | null {
  const type = textIn(block, "type");
  if (type !== "tool_use") return null;
  return isOwn(textIn(block, "name") ?? "") ? "own" : "other";
}

export function isReasoning(block: Fields | null): boolean {
  return textIn(block, "type")?.endsWith("thinking") === true;
}
