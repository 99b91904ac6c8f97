import { createHash } from "node:crypto";
import type { Json } from "../base/index.ts";
import { isObject } from "./json-text.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import type { PromptPosition } from "./prompt-positions.ts";

export type InputUsage = {
  /** Tokens that no mark covers. */
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
};

export type CacheLookup = {
  readonly usage: InputUsage;
  /** Called when the answer starts: before that no request can read what this one writes. */
  readonly commit: () => void;
};

type CacheEntry = { readonly ttlMs: number; readonly expiresMs: number };
type PositionMark = { readonly position: number; readonly ttl: "5m" | "1h" };

export const lookBackPositions = 20;
export const bytesPerToken = 4;
const ttlMsOf = { "5m": 5 * 60_000, "1h": 60 * 60_000 } as const;

/** Remembers the prefixes that were written, and counts the tokens that a request reads and writes. */
export class StrictPromptCache {
  readonly #entries = new Map<string, CacheEntry>();

  lookUp({ request, positions, nowMs }: CacheLookupInput): CacheLookup {
    const marks = positions.flatMap((position, index) =>
      position.mark === null ? [] : [{ position: index, ttl: position.mark }],
    );
    const tokens = tokensAt(positions);
    const total = tokens.at(-1) ?? 0;
    const usable = marks.filter((mark) => (tokens[mark.position] ?? 0) >= request.rules.cacheTokensMin);
    const windows = usable.map((mark) => lookBack(positions, mark.position));
    const keys = keysAt({ request, positions, wanted: new Set(windows.flat()) });
    const hits = windows.map((window) => this.#hit({ window, keys, nowMs }));
    const read = Math.max(0, ...hits.map((hit) => (hit === null ? 0 : (tokens[hit] ?? 0))));
    return {
      usage: usageOf({ read, total, tokens, usable }),
      commit: () => {
        for (const mark of usable) this.#write({ key: keys.get(mark.position), ttl: mark.ttl, nowMs });
      },
    };
  }

  /** The nearest live entry in the window of a mark. Reading it renews its lifetime. */
  #hit({ window, keys, nowMs }: CacheHitInput): number | null {
    for (const position of window) {
      const key = keys.get(position);
      const entry = key === undefined ? undefined : this.#entries.get(key);
      if (key === undefined || entry === undefined || entry.expiresMs <= nowMs) continue;
      this.#entries.set(key, { ...entry, expiresMs: nowMs + entry.ttlMs });
      return position;
    }
    return null;
  }

  #write({ key, ttl, nowMs }: CacheWriteInput): void {
    if (key === undefined) return;
    const ttlMs = Math.max(ttlMsOf[ttl], this.#entries.get(key)?.ttlMs ?? 0);
    // A lifetime counts from the start of the request, not from the end of its answer.
    this.#entries.set(key, { ttlMs, expiresMs: nowMs + ttlMs });
  }
}

type CacheLookupInput = {
  readonly request: ParsedRequest;
  readonly positions: readonly PromptPosition[];
  readonly nowMs: number;
};
type CacheHitInput = {
  readonly window: readonly number[];
  readonly keys: ReadonlyMap<number, string>;
  readonly nowMs: number;
};
type CacheWriteInput = {
  readonly key: string | undefined;
  readonly ttl: "5m" | "1h";
  readonly nowMs: number;
};
type CacheUsageInput = {
  readonly read: number;
  readonly total: number;
  readonly tokens: readonly number[];
  readonly usable: readonly PositionMark[];
};

/**
 * Tokens up to and including each position. It is an estimate, but the same text always has the same count.
 */
export function tokensAt(positions: readonly PromptPosition[]): readonly number[] {
  let bytes = 0;
  return positions.map(({ text }) => {
    bytes += Buffer.byteLength(text);
    return Math.ceil(bytes / bytesPerToken);
  });
}

function usageOf({ read, total, tokens, usable }: CacheUsageInput): InputUsage {
  const upTo = (ttl: "5m" | "1h"): number =>
    usable
      .filter((mark) => mark.ttl === ttl)
      .reduce((most, { position }) => Math.max(most, tokens[position] ?? 0), 0);
  const long = Math.max(0, upTo("1h") - read);
  const short = Math.max(0, upTo("5m") - Math.max(read, upTo("1h")));
  return {
    input_tokens: total - read - long - short,
    cache_creation_input_tokens: long + short,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  };
}

/**
 * The positions in the window of a mark, its own first. A run of calls counts once, and so does a run of
 * results.
 */
function lookBack(positions: readonly PromptPosition[], from: number): readonly number[] {
  const window: number[] = [];
  let counted = 0;
  for (let position = from; position >= 0; position -= 1) {
    const type = positions[position]?.type;
    const isInRun = (type === "tool_use" || type === "tool_result") && positions[position + 1]?.type === type;
    if (!isInRun || position === from) counted += 1;
    if (counted > lookBackPositions) break;
    window.push(position);
  }
  return window;
}

type CacheKeyInput = {
  readonly request: ParsedRequest;
  readonly positions: readonly PromptPosition[];
  readonly wanted: ReadonlySet<number>;
};

/** Keys from one running digest over the prompt, taken only at the wanted positions. */
function keysAt({ request, positions, wanted }: CacheKeyInput): ReadonlyMap<number, string> {
  const keys = new Map<number, string>();
  const settings = settingsOf(request);
  const hash = createHash("sha256").update(request.model);
  let part = "tools";
  for (const [index, position] of positions.entries()) {
    // Some settings change how a part is rendered, and so everything behind it.
    if (position.part !== part) hash.update(settings.system);
    if (position.part === "messages" && part !== "messages") hash.update(settings.messages);
    part = position.part;
    hash.update(`${position.text.length}:${position.text}`);
    if (wanted.has(index)) keys.set(index, hash.copy().digest("base64url"));
  }
  return keys;
}

function settingsOf({ body, messages }: ParsedRequest): {
  readonly system: string;
  readonly messages: string;
} {
  const all = messages.flatMap(({ content }) => content);
  const hasCitations = all.some(
    (block) => isObject(block["citations"]) && block["citations"]["enabled"] === true,
  );
  const thinking = isObject(body["thinking"]) ? body["thinking"] : {};
  const output = isObject(body["output_config"]) ? body["output_config"] : {};
  const choices: readonly (Json | undefined)[] = [
    body["tool_choice"],
    thinking["type"],
    thinking["budget_tokens"],
    output["effort"],
    all.some(({ type }) => type === "image"),
  ];
  return {
    system: JSON.stringify([body["speed"] ?? null, hasCitations]),
    messages: JSON.stringify(choices.map((choice) => choice ?? null)),
  };
}
