import { readAnswer } from "../../src/protocols/index.ts";
import type { SentReport, SentUnit } from "../../src/session/index.ts";
import type { Posted } from "./desk-kit.ts";
import { type Block, nonce, saysBlock } from "./simulate-body.ts";
import { broken, type Stream } from "./simulate-laws.ts";

/** A block that the desk has called by a number. */
export type Called = {
  readonly block: number;
  readonly message: number;
  readonly key: string;
  /** What it says, in whatever words it is shown. */
  readonly says: string;
};

/** What every number of a world means, for ever. */
export class NumberBook {
  readonly #sessions = new Map<string, Map<number, Called>>();
  /** What was said where other words are shown, by those. */
  readonly #instead = new Map<string, string>();

  /** Words that somebody has asked for stand for what they replace. */
  learn(streams: readonly Stream[]): void {
    for (const { rewritten } of streams)
      for (const [says, others] of rewritten) for (const other of others) this.#instead.set(other, says);
  }

  /** Checks what a request and its answer call their blocks, and gives it back. */
  check({ attempts, numbered, answer }: Posted, heard: Buffer | null): readonly Called[] {
    const called = attempts.flatMap(({ sending: { sent } }) => (sent === null ? [] : this.#sent(sent)));
    const line = attempts.at(-1)?.sending.sent?.line ?? null;
    if (line === null || heard === null || numbered === null) return called;
    const contentType = answer.headers.find(([name]) => name === "content-type")?.[1] ?? "";
    const { units } = readAnswer(heard, contentType);
    return [
      ...called,
      ...units.flatMap(({ unit, bytes }, at) => {
        const one = numbered[at] ?? null;
        return one === null
          ? []
          : [this.#call(line, { ...one, key: unit.key, says: meaningOf(bytes, one.kind) })];
      }),
    ];
  }

  #sent({ line, fresh }: SentReport): readonly Called[] {
    const called = fresh.flatMap(({ numbered, key, bytes }) => {
      if (numbered === null) return [];
      return [this.#call(line, { ...numbered, key, says: meaningOf(bytes, numbered.kind) })];
    });
    const known = this.#of(line);
    for (const [at, unit] of fresh.entries()) checkHeader(unit, fresh[at + 1], known);
    return called;
  }

  #call(line: string, { block, message, key, says: shown }: Called): Called {
    const says = this.#instead.get(shown) ?? shown;
    const called = { block, message, key, says };
    const known = this.#of(line);
    const before = known.get(block);
    known.set(block, before ?? called);
    if (before !== undefined && before.says !== says)
      broken("numbers", `#${block} was ${before.says}`, `and is ${says}`);
    if (before !== undefined && before.message !== message)
      broken("numbers", `#${block} was in message ${before.message}`, `and is in ${message}`);
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

const saidByModel = ["assistant", "reasoning", "tool-call"];

/** What a block says, the same for every form it may be written in. */
export function meaningOf(bytes: Uint8Array, kind: string): string {
  const block = JSON.parse(Buffer.from(bytes).toString("utf8") || "{}") as Block;
  if (kind === "system") return `system ${JSON.stringify(block)}`;
  const says = saysBlock(saidByModel.includes(kind) ? "assistant" : "user", block);
  return says ?? `reasoning ${String(block["signature"] ?? block["data"])}`;
}

/** A header names blocks that have these numbers, and stands in front of the one it is about. */
function checkHeader(unit: SentUnit, next: SentUnit | undefined, known: Known): void {
  const { bytes, numbered, origin } = unit;
  const text = origin === "model" ? "" : ownTextIn(bytes);
  // Names are content, and may look like numbers.
  const [announced = ""] = /^\[\w+ turn \d+, .*/.exec(text)?.[0].split("; names ") ?? [];
  for (const [, from, to = from] of announced.matchAll(/#(\d+)(?:\.\.#(\d+))?/g)) {
    for (let block = Number(from); block <= Number(to); block += 1)
      if (!known.has(block)) broken("numbers", `a header names #${block}, which nobody has`, text);
  }
  const parts = [...text.matchAll(/\[Part ID: (\d+) /g)].map(([, block]) => Number(block));
  const lost = parts.find((block) => !known.has(block));
  if (lost !== undefined) broken("numbers", `a header names #${lost}, which nobody has`, text);
  const about = (origin === "aperture" ? next?.numbered : numbered)?.block;
  if (parts.length > 0 && about !== undefined && parts.at(-1) !== about)
    broken("numbers", `a header stands before #${about}`, text);
}

type Known = ReadonlyMap<number, Called>;

/** What is ours in a unit: all of it, or the first text of a result. */
function ownTextIn(bytes: Uint8Array): string {
  const written = Buffer.from(bytes).toString("utf8");
  if (!written.includes(nonce)) return "";
  const { type, text, content } = JSON.parse(written) as Block;
  if (type === "text" && String(text).includes(nonce)) return String(text);
  const [first] = type === "tool_result" && Array.isArray(content) ? (content as readonly Block[]) : [];
  return String(first?.["text"] ?? "");
}
