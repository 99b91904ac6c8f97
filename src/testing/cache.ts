import { createHash } from "node:crypto";
import type { Json } from "../base/index.ts";
import { isObject } from "./json-text.ts";
import type { ParsedRequest } from "./request.ts";
import type { PromptUnit } from "./units.ts";

export type InputUsage = {
  /** What no mark covers. */
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
};

export type CacheLook = {
  readonly usage: InputUsage;
  /** To be called when the answer starts: before that nobody can read what this request writes. */
  readonly commit: () => void;
};

type Entry = { readonly ttlMs: number; readonly expiresMs: number };
type Mark = { readonly unit: number; readonly ttl: "5m" | "1h" };

export const lookBackPositions = 20;
export const bytesPerToken = 4;
const ttlMsOf = { "5m": 5 * 60_000, "1h": 60 * 60_000 } as const;

/** Remembers which prefixes have been written, and says what a request reads and writes. */
export class PromptCache {
  readonly #entries = new Map<string, Entry>();

  look({ request, units, nowMs }: CacheQuestion): CacheLook {
    const marks = units.flatMap((unit, index) =>
      unit.mark === null ? [] : [{ unit: index, ttl: unit.mark }],
    );
    const tokens = tokensAt(units);
    const total = tokens.at(-1) ?? 0;
    const usable = marks.filter((mark) => (tokens[mark.unit] ?? 0) >= request.rules.cacheTokensMin);
    const windows = usable.map((mark) => lookBack(units, mark.unit));
    const keys = keysAt({ request, units, wanted: new Set(windows.flat()) });
    const hits = windows.map((window) => this.#hit({ window, keys, nowMs }));
    const read = Math.max(0, ...hits.map((hit) => (hit === null ? 0 : (tokens[hit] ?? 0))));
    return {
      usage: usageOf({ read, total, tokens, usable }),
      commit: () => {
        for (const mark of usable) this.#write({ key: keys.get(mark.unit), ttl: mark.ttl, nowMs });
      },
    };
  }

  /** The nearest entry that a mark can see. Reading it keeps it alive. */
  #hit({ window, keys, nowMs }: HitQuestion): number | null {
    for (const unit of window) {
      const key = keys.get(unit);
      const entry = key === undefined ? undefined : this.#entries.get(key);
      if (key === undefined || entry === undefined || entry.expiresMs <= nowMs) continue;
      this.#entries.set(key, { ...entry, expiresMs: nowMs + entry.ttlMs });
      return unit;
    }
    return null;
  }

  #write({ key, ttl, nowMs }: WriteQuestion): void {
    if (key === undefined) return;
    const ttlMs = Math.max(ttlMsOf[ttl], this.#entries.get(key)?.ttlMs ?? 0);
    // A lifetime counts from the start of the request, however long its answer takes.
    this.#entries.set(key, { ttlMs, expiresMs: nowMs + ttlMs });
  }
}

type CacheQuestion = {
  readonly request: ParsedRequest;
  readonly units: readonly PromptUnit[];
  readonly nowMs: number;
};
type HitQuestion = {
  readonly window: readonly number[];
  readonly keys: ReadonlyMap<number, string>;
  readonly nowMs: number;
};
type WriteQuestion = { readonly key: string | undefined; readonly ttl: "5m" | "1h"; readonly nowMs: number };
type UsageQuestion = {
  readonly read: number;
  readonly total: number;
  readonly tokens: readonly number[];
  readonly usable: readonly Mark[];
};

/** Tokens up to and including each unit. An estimate, but an exact one: the same text has the same count. */
export function tokensAt(units: readonly PromptUnit[]): readonly number[] {
  let bytes = 0;
  return units.map(({ text }) => {
    bytes += Buffer.byteLength(text);
    return Math.ceil(bytes / bytesPerToken);
  });
}

function usageOf({ read, total, tokens, usable }: UsageQuestion): InputUsage {
  const upTo = (ttl: "5m" | "1h"): number =>
    usable
      .filter((mark) => mark.ttl === ttl)
      .reduce((most, { unit }) => Math.max(most, tokens[unit] ?? 0), 0);
  const long = Math.max(0, upTo("1h") - read);
  const short = Math.max(0, upTo("5m") - Math.max(read, upTo("1h")));
  return {
    input_tokens: total - read - long - short,
    cache_creation_input_tokens: long + short,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  };
}

/** The units a mark can see, itself first. A run of calls is one position, and so is a run of results. */
function lookBack(units: readonly PromptUnit[], from: number): readonly number[] {
  const seen: number[] = [];
  let positions = 0;
  for (let unit = from; unit >= 0; unit -= 1) {
    const type = units[unit]?.type;
    const inRun = (type === "tool_use" || type === "tool_result") && units[unit + 1]?.type === type;
    if (!inRun || unit === from) positions += 1;
    if (positions > lookBackPositions) break;
    seen.push(unit);
  }
  return seen;
}

type KeyQuestion = {
  readonly request: ParsedRequest;
  readonly units: readonly PromptUnit[];
  readonly wanted: ReadonlySet<number>;
};

/** One running digest over the prompt, read off only where a mark looks. */
function keysAt({ request, units, wanted }: KeyQuestion): ReadonlyMap<number, string> {
  const keys = new Map<number, string>();
  const settings = settingsOf(request);
  const hash = createHash("sha256").update(request.model);
  let part = "tools";
  for (const [index, unit] of units.entries()) {
    // Some settings change how a part is rendered, and everything behind it with it.
    if (unit.part !== part) hash.update(settings.system);
    if (unit.part === "messages" && part !== "messages") hash.update(settings.messages);
    part = unit.part;
    hash.update(`${unit.text.length}:${unit.text}`);
    if (wanted.has(index)) keys.set(index, hash.copy().digest("base64url"));
  }
  return keys;
}

function settingsOf({ body, messages }: ParsedRequest): {
  readonly system: string;
  readonly messages: string;
} {
  const all = messages.flatMap(({ content }) => content);
  const cited = all.some((block) => isObject(block["citations"]) && block["citations"]["enabled"] === true);
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
    system: JSON.stringify([body["speed"] ?? null, cited]),
    messages: JSON.stringify(choices.map((choice) => choice ?? null)),
  };
}
