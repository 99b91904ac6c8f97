import { namesIn, nameTokens } from "../../src/render/names.ts";
import { headerNamesMax, manifestNamesMax, NameRank } from "../../src/render/rank.ts";
import type { Counter } from "../../src/tokens/index.ts";
import type { Message, Request } from "./conversation.ts";
import type { Shown, TextSource } from "./texts.ts";

/** When a line of headers is written, and which blocks it tells the size of. */
export type LineRule = {
  /** Besides when the user speaks or came back after a pause: after so many tokens of content. */
  readonly everyTokens: number;
  /** And when a single block has as many. */
  readonly blockTokens: number;
  readonly detailTokensMin: number;
  /** Whether lines carry names. */
  readonly isNaming: boolean;
  /** Whether names are priced with the vocabulary, or by what they look like. */
  readonly isExact: boolean;
};

export const proposedRule: LineRule = {
  everyTokens: 8_000,
  blockTokens: Number.POSITIVE_INFINITY,
  detailTokensMin: 300,
  isNaming: true,
  isExact: true,
};

const pauseMs = 5 * 60_000;
const ttlTurns = 20;
const warnTurns = 3;

/** Texts as they are meant to be, without the pipeline that will write them. */
export function simulatedTexts(count: Counter, rule: LineRule = proposedRule): TextSource {
  const costs = new Map<string, number>();
  const exact = (name: string): number => {
    const known = costs.get(name) ?? Math.max(1, count(` ${name}`));
    costs.set(name, known);
    return known;
  };
  const cost = rule.isExact ? exact : nameTokens;
  return (conversation) => {
    const writer = new Writer({ count, cost, rule });
    return conversation.requests.map((request) => writer.shown(request));
  };
}

type Tools = { readonly count: Counter; readonly cost: Counter; readonly rule: LineRule };
type Kept = { readonly turn: number; readonly message: Message };
type Line = { readonly text: string; readonly names: readonly string[]; readonly behind: number };
type Detail = {
  readonly block: number;
  readonly kind: string;
  readonly size: string;
  readonly until: number;
};

class Writer {
  readonly #tools: Tools;
  #rank: NameRank;
  #kept: Kept[] = [];
  #lines: Line[] = [];
  #turn = 0;
  #blocks = 0;
  #messages = 0;
  #content = 0;
  #headers = 0;
  #told = { turns: 0, tokens: 0 };
  #untold = { from: 1, tokens: 0, details: [] as Detail[] };
  #expiring = new Map<number, number[]>();
  #timeMs: number | null = null;

  constructor(tools: Tools) {
    this.#tools = tools;
    this.#rank = new NameRank(tools.cost);
  }

  shown(request: Request): Shown {
    this.#turn += 1;
    const isFirst = this.#turn === 1 || request.kept < this.#kept.length;
    if (request.kept < this.#kept.length) this.#rewind(request.kept);
    for (const message of request.messages) this.#take(message);
    const written = this.#isTold(request) ? [this.#line(request)] : [];
    this.#timeMs = request.timeMs ?? this.#timeMs;
    const shown = {
      written,
      standing: this.#lines.map(({ text }) => text),
      manifest: this.#manifest(),
      note: this.#note(isFirst),
    };
    this.#take(request.answer);
    return shown;
  }

  /** What is left of the context after the client dropped some, and the lines that went with it. */
  #rewind(count: number): void {
    this.#kept = this.#kept.slice(0, count);
    this.#lines = this.#lines.filter(({ behind }) => behind <= count);
    this.#rank = new NameRank(this.#tools.cost);
    for (const kept of this.#kept) this.#rankNames(kept);
    for (const { names } of this.#lines) this.#rank.stand(names);
  }

  #take(message: Message): void {
    const kept = { turn: this.#turn, message };
    this.#kept.push(kept);
    this.#rankNames(kept);
    this.#messages += 1;
    for (const { kind, tokens } of message.blocks) {
      this.#blocks += 1;
      this.#content += tokens;
      this.#untold.tokens += tokens;
      if (tokens < this.#tools.rule.detailTokensMin) continue;
      const until = this.#turn + ttlTurns;
      const word = kind === "tool-result" ? "result" : kind === "tool-call" ? "call" : kind;
      // The model knows what it said itself, and how long it was.
      if (kind === "tool-result" || kind === "user")
        this.#untold.details.push({ block: this.#blocks, kind: word, size: sizeText(tokens), until });
      this.#expiring.set(until, [...(this.#expiring.get(until) ?? []), this.#blocks]);
    }
  }

  #rankNames({ turn, message }: Kept): void {
    for (const { kind, text } of message.blocks)
      this.#rank.add({ turn, kind, names: namesIn(text).map(({ name }) => name) });
  }

  #isTold({ messages, timeMs }: Request): boolean {
    const { everyTokens, blockTokens } = this.#tools.rule;
    const blocks = messages.flatMap((message) => message.blocks);
    if (blocks.some(({ kind, tokens }) => kind === "user" || tokens >= blockTokens)) return true;
    return this.#pause(timeMs) !== "" || this.#untold.tokens >= everyTokens;
  }

  #pause(timeMs: number | null): string {
    const pause = timeMs === null || this.#timeMs === null ? 0 : timeMs - this.#timeMs;
    return pause > pauseMs ? ` +${Math.round(pause / 60_000)}m` : "";
  }

  #line({ timeMs }: Request): string {
    const { count, rule } = this.#tools;
    const { from, details } = this.#untold;
    const ids = `message ${this.#messages} #${from}..#${this.#blocks}`;
    const start = `[k7f3 turn ${this.#turn}, 14:05${this.#pause(timeMs)}: ${ids}${detailsText(details)}`;
    const headers = this.#headers + count(`${start}; names]`);
    const tokensMax = headerNamesMax({ content: this.#content, headers });
    const names = rule.isNaming ? this.#rank.forHeader({ tokensMax }) : [];
    const text = names.length === 0 ? `${start}]` : `${start}; names ${names.join(" ")}]`;
    this.#rank.stand(names);
    this.#headers += count(text);
    this.#lines.push({ text, names, behind: this.#kept.length });
    this.#untold = { from: this.#blocks + 1, tokens: 0, details: [] };
    return text;
  }

  #manifest(): string {
    const { count } = this.#tools;
    const fixed = count(this.#manifestText([]));
    const tokensMax = manifestNamesMax({ ...this.#told, fixed });
    const text = this.#manifestText(this.#rank.forManifest({ turn: this.#turn, tokensMax }));
    this.#told = { turns: this.#told.turns + 1, tokens: this.#told.tokens + count(text) };
    return text;
  }

  #manifestText(names: readonly string[]): string {
    const head = `[CONTEXT MANIFEST k7f3 turn ${this.#turn} | ${this.#blocks} blocks | ~140k/200k tokens, 70%]`;
    const zones = `MIDDLE ${this.#blocks} ~128k: ${names.join(" ")} | RECENCY 5 ~8.4k`;
    const expiring = this.#expiringText();
    return `${head}\n${zones}${expiring === "" ? "" : ` | EXPIRING ${expiring}`} | BUDGET ~60k free`;
  }

  #expiringText(): string {
    const turns = [1, 2, 3].map((turns) => this.#turn + turns);
    const texts = turns.flatMap((turn) => {
      const blocks = this.#expiring.get(turn) ?? [];
      return blocks.length === 0 ? [] : [`#${blocks[0]}..#${blocks.at(-1)} at ${turn}`];
    });
    return texts.join(", ");
  }

  #note(isFirst: boolean): string {
    if (isFirst) return this.#manifestText([]);
    const blocks = this.#expiring.get(this.#turn + warnTurns) ?? [];
    if (blocks.length === 0) return "";
    const ids = blocks.slice(0, 4).map((block) => `#${block}`);
    return `[k7f3 turn ${this.#turn}: expiring ${ids.join(" ")} at ${this.#turn + warnTurns}]`;
  }
}

/** `; #43 result ~4.2k, #44 ~900 until 51; #47 ~1.1k until 53`: what is the same is said once. */
function detailsText(details: readonly Detail[]): string {
  return details
    .map(({ block, kind, size, until }, index) => {
      const [before, after] = [details[index - 1], details[index + 1]];
      const sign = before?.until === until ? "," : ";";
      const word = before?.kind === kind ? "" : ` ${kind}`;
      return `${sign} #${block}${word} ~${size}${after?.until === until ? "" : ` until ${until}`}`;
    })
    .join("");
}

function sizeText(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  return `${tokens < 10_000 ? (tokens / 1_000).toFixed(1) : Math.round(tokens / 1_000)}k`;
}
