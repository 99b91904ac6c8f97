import type { SentRequest, SentRequestUnit } from "../../src/exchange/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import type { Posted } from "../support/planner-kit.ts";
import { failLaw } from "./law-error.ts";
import type { Stream } from "./laws.ts";
import { type Block, nonce, saysBlock } from "./seen-body.ts";
import { meansResult } from "./shown-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

/** A block that the planner has called by a number. */
export type Called = {
  readonly block: number;
  readonly message: number;
  readonly key: string;
  /** What it says, in whatever words it is shown. */
  readonly says: string;
};

/** What a request and its answer call their blocks, and what headers name that was not called before. */
export type Calling = { readonly called: readonly Called[]; readonly named: readonly number[] };

/** What every number of a world means, for ever. */
export class NumberBook {
  readonly #sessions = new Map<string, Map<number, Called>>();
  /** Words that are shown in place of others. */
  readonly #instead = new Set<string>();

  /** Somebody has asked for other words. */
  learn(streams: readonly Stream[]): void {
    for (const { rewritten } of streams)
      for (const others of rewritten.values()) for (const other of others) this.#instead.add(other);
  }

  /** Checks what a request and its answer call their blocks, and gives it back. */
  check({ attempts, rounds, numbered, answer }: Posted, received: Buffer | null): Calling {
    const reports = [...attempts, ...rounds].flatMap(({ sending: { sent } }) =>
      sent === null ? [] : [sent],
    );
    const called = reports.flatMap((sent) => this.#sent(sent));
    const named = reports.flatMap(({ streamKey: line, fresh }) => this.#unknown(line, fresh));
    const line = attempts.at(-1)?.sending.sent?.streamKey ?? null;
    if (line === null || received === null || numbered === null) return { called, named };
    const contentType = answer.headers.find(([name]) => name === "content-type")?.[1] ?? "";
    const said = readAnswer(received, contentType).units.flatMap(({ unit, bytes }, at) => {
      const one = numbered[at] ?? null;
      return one === null
        ? []
        : [this.#call(line, { ...one, key: unit.key, says: meaningOf(bytes, one.kind) })];
    });
    return { called: [...called, ...said], named };
  }

  #sent({ streamKey: line, fresh }: SentRequest): readonly Called[] {
    return fresh.flatMap(({ numbered, key, bytes, as }) => {
      if (numbered === null) return [];
      const says = as === "original" ? meaningOf(bytes, numbered.kind) : "";
      return [this.#call(line, { ...numbered, key, says })];
    });
  }

  #unknown(line: string, fresh: SentRequest["fresh"]): readonly number[] {
    const known = this.#of(line);
    return fresh.flatMap((unit, at) => announcedIn(unit, fresh[at + 1])).filter((block) => !known.has(block));
  }

  #call(line: string, { block, message, key, says: shown }: Called): Called {
    const known = this.#of(line);
    const before = known.get(block);
    // Other words than its own do not tell which of several edited results they stand for.
    const isShownOtherwise = shown === "" || this.#instead.has(shown);
    const says = isShownOtherwise ? (before?.says ?? "") : shown;
    const called = { block, message, key, says };
    if (before === undefined || before.says === "") known.set(block, called);
    if (before !== undefined && before.says !== "" && before.says !== says)
      failLaw("numbers", `#${block} was ${before.says}`, `and is ${says}`);
    if (before !== undefined && before.message !== message)
      failLaw("numbers", `#${block} was in message ${before.message}`, `and is in ${message}`);
    return called;
  }

  #of(line: string): Map<number, Called> {
    const [owner, upstream, client, session] = JSON.parse(line) as readonly string[];
    const name = JSON.stringify([owner, upstream, client, session]);
    const known = this.#sessions.get(name) ?? new Map<number, Called>();
    this.#sessions.set(name, known);
    return known;
  }
}

const modelKinds = ["assistant", "reasoning", "tool-call"];

/** What a block says, the same for every form it may be written in. */
export function meaningOf(bytes: Uint8Array, kind: string): string {
  const block = JSON.parse(Buffer.from(bytes).toString("utf8") || "{}") as Block;
  if (block.type === "tool_result") return meansResult(JSON.stringify(block));
  if (kind === "system") return `system ${JSON.stringify(block)}`;
  const says = saysBlock(modelKinds.includes(kind) ? "assistant" : "user", block);
  return says ?? `reasoning ${String(block["signature"] ?? block["data"])}`;
}

/** What a header in a unit names. It stands in the block it is about, a result of ours too, or before it. */
function announcedIn(unit: SentRequestUnit, next: SentRequestUnit | undefined): readonly number[] {
  const { bytes, numbered, origin } = unit;
  const text = origin === "model" ? "" : ownTextIn(bytes);
  // Names are content, and may look like numbers.
  const [announced = ""] = /^\[\w+ turn \d+, .*/.exec(text)?.[0].split(/[:;] names /) ?? [];
  const spans = [...announced.matchAll(/#(\d+)(?:\.\.#(\d+))?/g)];
  const parts = [...text.matchAll(/\[Part ID: (\d+) /g)].map(([, block]) => Number(block));
  const about = (numbered ?? next?.numbered)?.block;
  if (parts.length > 0 && about !== undefined && parts.at(-1) !== about)
    failLaw("numbers", `a header stands before #${about}`, text);
  return [...parts, ...spans.flatMap(([, from, to = from]) => numbersIn(Number(from), Number(to)))];
}

function numbersIn(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** What is ours in a unit: all of it, or the first text of a result. */
function ownTextIn(bytes: Uint8Array): string {
  const written = Buffer.from(bytes).toString("utf8");
  if (!written.includes(nonce)) return "";
  const { type, text, content } = JSON.parse(written) as Block;
  if (type === "text" && String(text).includes(nonce)) return String(text);
  const [first] = type === "tool_result" && Array.isArray(content) ? (content as readonly Block[]) : [];
  return String(first?.["text"] ?? "");
}
