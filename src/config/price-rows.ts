/**
 * The prices and cache rules of models, as data. It is passed in and never built in, because it changes
 * outside our control. docs/reference/prices.md gives the source of every value. The form equals the one that
 * src/policy/price.ts takes; it is declared again here because config imports nothing.
 */
export type ModelPriceData = {
  readonly family: string;
  readonly provider: "anthropic" | "openai" | "google" | "other";
  /** US dollars for a million input tokens. Every other price is relative to an input token. */
  readonly inputUsd: number | null;
  readonly output: number;
  readonly read: number;
  readonly cache: CacheLifeData;
  readonly longCache: CacheLifeData | null;
  readonly rule: CacheRuleData;
  readonly longPrompt: LongPromptData | null;
  readonly bindsReasoning: boolean;
  readonly hasContextEdits: boolean;
  /** The fields whose values no document states. */
  readonly assumed: readonly PriceDataField[];
};
type PriceDataField = Exclude<keyof ModelPriceData, "family" | "provider" | "assumed">;
type CacheLifeData = { readonly write: number; readonly lifetimeMs: number };
type CacheRuleData = {
  readonly kind: "marks" | "prefix" | "breakpoints" | "none";
  readonly tokensMin: number;
  readonly stepTokens: number;
  readonly marksMax: number;
  readonly lookBack: number | null;
};
type LongPromptData = {
  readonly aboveTokens: number;
  readonly inputFactor: number;
  readonly outputFactor: number;
};

/** A row applies from its version on, until the next row of its line. */
export type PriceRow = {
  readonly line: string;
  readonly pattern: RegExp;
  readonly since: readonly [major: number, minor: number];
  readonly prices: ModelPriceData;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Dollars per million tokens of input and output: the two numbers that price lists show. */
type ListPrice = { readonly usd: readonly [input: number, output: number] };
type PriceOverrides = Partial<Omit<ModelPriceData, "family" | "provider" | "inputUsd" | "output">>;
type ModelLine = { readonly line: string; readonly pattern: RegExp };

function rowOf(line: ModelLine, prices: ModelPriceData, since: PriceRow["since"]): PriceRow {
  return { ...line, since, prices };
}

function relativePrices({ usd: [input, output] }: ListPrice): { inputUsd: number; output: number } {
  return { inputUsd: input, output: output / input };
}

const marks = { kind: "marks", tokensMin: 1024, stepTokens: 1, marksMax: 4, lookBack: 20 } as const;

function claude(family: string, { usd, ...rest }: ListPrice & PriceOverrides): ModelPriceData {
  return {
    family: `Claude ${family}`,
    provider: "anthropic",
    ...relativePrices({ usd }),
    read: 0.1,
    cache: { write: 1.25, lifetimeMs: 5 * minuteMs },
    longCache: { write: 2, lifetimeMs: hourMs },
    rule: marks,
    longPrompt: null,
    bindsReasoning: false,
    hasContextEdits: true,
    assumed: [],
    ...rest,
  };
}

const opus = { line: "opus", pattern: /opus/ };
const sonnet = { line: "sonnet", pattern: /sonnet/ };
const haiku = { line: "haiku", pattern: /haiku/ };
const fable = { line: "fable", pattern: /fable|mythos/ };
const min = (tokensMin: number) => ({ ...marks, tokensMin });

const claudeRows: readonly PriceRow[] = [
  rowOf(opus, claude("Opus 3", { usd: [15, 75], hasContextEdits: false }), [0, 0]),
  rowOf(opus, claude("Opus 4 and 4.1", { usd: [15, 75] }), [4, 0]),
  rowOf(opus, claude("Opus 4.5 and 4.6", { usd: [5, 25], rule: min(4096) }), [4, 5]),
  rowOf(opus, claude("Opus 4.7", { usd: [5, 25], rule: min(2048) }), [4, 7]),
  rowOf(opus, claude("Opus 4.8", { usd: [5, 25] }), [4, 8]),
  rowOf(opus, claude("Opus 5", { usd: [5, 25], rule: min(512) }), [5, 0]),
  rowOf(opus, claude("Opus 5.5", { usd: [4, 20], read: 0.05, rule: min(512), bindsReasoning: true }), [5, 5]),
  rowOf(sonnet, claude("Sonnet before 4", { usd: [3, 15], hasContextEdits: false }), [0, 0]),
  rowOf(sonnet, claude("Sonnet 4 to 4.6", { usd: [3, 15] }), [4, 0]),
  rowOf(sonnet, claude("Sonnet 5", { usd: [2, 10] }), [5, 0]),
  rowOf(
    sonnet,
    claude("Sonnet 5.5", { usd: [2, 10], read: 0.05, rule: min(512), bindsReasoning: true }),
    [5, 5],
  ),
  rowOf(
    haiku,
    claude("Haiku before 4.5", { usd: [0.8, 4], rule: min(2048), hasContextEdits: false }),
    [0, 0],
  ),
  rowOf(haiku, claude("Haiku 4.5", { usd: [1, 5], rule: min(4096) }), [4, 5]),
  rowOf(
    haiku,
    claude("Haiku 5.5", {
      usd: [0.1, 0.5],
      rule: min(512),
      longPrompt: { aboveTokens: 100_000, inputFactor: 5, outputFactor: 5 },
      bindsReasoning: true,
    }),
    [5, 5],
  ),
  rowOf(fable, claude("Fable 5 and Mythos 5", { usd: [10, 50], rule: min(512) }), [0, 0]),
  rowOf(
    fable,
    claude("Fable 5.1 and Mythos 5.1 on", {
      usd: [10, 50],
      read: 0.025,
      rule: min(512),
      bindsReasoning: true,
    }),
    [5, 1],
  ),
];

/** Cache writes are free, and requests carry no cache marks. */
const prefix = { kind: "prefix", tokensMin: 1024, stepTokens: 128, marksMax: 0, lookBack: null } as const;
const breakpoints = {
  kind: "breakpoints",
  tokensMin: 1024,
  stepTokens: 1,
  marksMax: 4,
  lookBack: 80,
} as const;
const over272k = { aboveTokens: 272_000, inputFactor: 2, outputFactor: 1.5 } as const;

function gptBefore56(family: string, { usd, ...rest }: ListPrice & PriceOverrides): ModelPriceData {
  return {
    family,
    provider: "openai",
    ...relativePrices({ usd }),
    read: 0.1,
    cache: { write: 1, lifetimeMs: 5 * minuteMs },
    longCache: null,
    rule: prefix,
    longPrompt: null,
    bindsReasoning: false,
    hasContextEdits: false,
    assumed: [],
    ...rest,
  };
}

function gptFrom56(family: string, { usd, ...rest }: ListPrice & PriceOverrides): ModelPriceData {
  return {
    family,
    provider: "openai",
    ...relativePrices({ usd }),
    read: 0.1,
    cache: { write: 1.25, lifetimeMs: 30 * minuteMs },
    longCache: { write: 2.5, lifetimeMs: 12 * hourMs },
    rule: breakpoints,
    longPrompt: over272k,
    bindsReasoning: false,
    hasContextEdits: false,
    assumed: [],
    ...rest,
  };
}

const gpt = { line: "gpt", pattern: /gpt-\d/ };
const gptPro = { line: "gpt-pro", pattern: /gpt-\d.*-pro/ };
const gptMini = { line: "gpt-mini", pattern: /gpt-\d.*-mini/ };
const gptNano = { line: "gpt-nano", pattern: /gpt-\d.*-nano/ };
const luna = { line: "luna", pattern: /gpt-\d.*-luna/ };
const terra = { line: "terra", pattern: /gpt-\d.*-terra/ };
const sol = { line: "sol", pattern: /gpt-\d.*-sol/ };
const astra = { line: "astra", pattern: /gpt-\d.*-astra/ };
const gpt4o = { line: "gpt-4o", pattern: /gpt-4o/ };
const gpt4oMini = { line: "gpt-4o-mini", pattern: /gpt-4o-mini/ };
const oSeries = { line: "o", pattern: /(?:^|[^a-z0-9])o[134](?![a-z0-9])/ };
const oMini = { line: "o-mini", pattern: /(?:^|[^a-z0-9])o[134]-mini/ };

/** No cached prompt is cheaper. */
const uncached = { read: 1, rule: { ...prefix, kind: "none" }, assumed: ["read", "rule"] } as const;
/** A longer cache that a client may request at no cost. */
const allDay = { write: 1, lifetimeMs: 24 * hourMs } as const;

/** Narrower patterns come first: a name belongs to the first line that matches. */
const gptRows: readonly PriceRow[] = [
  rowOf(gpt4oMini, gptBefore56("GPT-4o mini", { usd: [0.15, 0.6], read: 0.5 }), [0, 0]),
  rowOf(gpt4o, gptBefore56("GPT-4o", { usd: [2.5, 10], read: 0.5 }), [0, 0]),
  rowOf(oMini, gptBefore56("o1 mini and o3 mini", { usd: [1.1, 4.4], read: 0.5 }), [0, 0]),
  rowOf(oMini, gptBefore56("o4 mini", { usd: [1.1, 4.4], read: 0.25 }), [4, 0]),
  rowOf(oSeries, gptBefore56("o1", { usd: [15, 60], read: 0.5 }), [0, 0]),
  rowOf(oSeries, gptBefore56("o3", { usd: [2, 8], read: 0.25 }), [3, 0]),
  rowOf(astra, gptFrom56("GPT-6 Astra", { usd: [10, 50] }), [0, 0]),
  rowOf(sol, gptFrom56("GPT-5.6 Sol", { usd: [4, 20], assumed: ["longPrompt"] }), [0, 0]),
  rowOf(sol, gptFrom56("GPT-6 Sol", { usd: [2, 10] }), [6, 0]),
  rowOf(sol, gptFrom56("GPT-6.1 Sol", { usd: [2, 10], read: 0.05 }), [6, 1]),
  rowOf(terra, gptFrom56("GPT-5.6 Terra", { usd: [2, 12], assumed: ["longPrompt"] }), [0, 0]),
  rowOf(luna, gptFrom56("GPT-5.6 Luna", { usd: [0.2, 1.2], assumed: ["longPrompt"] }), [0, 0]),
  rowOf(luna, gptFrom56("GPT-6 Luna", { usd: [0.1, 0.5] }), [6, 0]),
  rowOf(gptNano, gptBefore56("GPT-4.1 nano", { usd: [0.1, 0.4], read: 0.25 }), [0, 0]),
  rowOf(gptNano, gptBefore56("GPT-5 nano", { usd: [0.05, 0.4] }), [5, 0]),
  rowOf(gptNano, gptBefore56("GPT-5.4 nano", { usd: [0.2, 1.25] }), [5, 4]),
  rowOf(gptMini, gptBefore56("GPT-4.1 mini", { usd: [0.4, 1.6], read: 0.25 }), [0, 0]),
  rowOf(gptMini, gptBefore56("GPT-5 mini", { usd: [0.25, 2] }), [5, 0]),
  rowOf(gptMini, gptBefore56("GPT-5.4 mini", { usd: [0.75, 4.5] }), [5, 4]),
  rowOf(gptPro, gptBefore56("GPT-5 pro", { usd: [15, 120], ...uncached }), [0, 0]),
  rowOf(gptPro, gptBefore56("GPT-5.2 pro", { usd: [21, 168], ...uncached }), [5, 2]),
  rowOf(
    gptPro,
    gptBefore56("GPT-5.4 pro and 5.5 pro", {
      usd: [30, 180],
      ...uncached,
      longPrompt: over272k,
    }),
    [5, 4],
  ),
  rowOf(
    gptPro,
    gptFrom56("GPT-6 pro models", { usd: [10, 50], assumed: ["inputUsd", "output", "read", "rule"] }),
    [6, 0],
  ),
  rowOf(gpt, gptBefore56("GPT-4", { usd: [30, 60], ...uncached }), [0, 0]),
  rowOf(gpt, gptBefore56("GPT-4.1", { usd: [2, 8], read: 0.25, longCache: allDay }), [4, 1]),
  rowOf(gpt, gptBefore56("GPT-5 and 5.1", { usd: [1.25, 10], longCache: allDay }), [5, 0]),
  rowOf(gpt, gptBefore56("GPT-5.2 and 5.3", { usd: [1.75, 14], longCache: allDay }), [5, 2]),
  rowOf(gpt, gptBefore56("GPT-5.4", { usd: [2.5, 15], longCache: allDay, longPrompt: over272k }), [5, 4]),
  rowOf(
    gpt,
    gptBefore56("GPT-5.5", { usd: [5, 30], cache: allDay, longPrompt: over272k, assumed: ["rule"] }),
    [5, 5],
  ),
  rowOf(
    gpt,
    gptFrom56("GPT-5.6 without a name", { usd: [4, 20], assumed: ["inputUsd", "output", "longPrompt"] }),
    [5, 6],
  ),
  rowOf(gpt, gptFrom56("GPT-6 without a name", { usd: [2, 10], assumed: ["inputUsd", "output"] }), [6, 0]),
];

const over200k = { aboveTokens: 200_000, inputFactor: 2, outputFactor: 1.5 } as const;

function gemini(family: string, { usd, ...rest }: ListPrice & PriceOverrides): ModelPriceData {
  return {
    family: `Gemini ${family}`,
    provider: "google",
    ...relativePrices({ usd }),
    read: 0.1,
    cache: { write: 1, lifetimeMs: 5 * minuteMs },
    longCache: null,
    rule: { ...prefix, tokensMin: 4096, stepTokens: 1 },
    longPrompt: null,
    bindsReasoning: false,
    hasContextEdits: false,
    assumed: ["cache"],
    ...rest,
  };
}

const geminiPro = { line: "gemini-pro", pattern: /gemini.*pro/ };
const geminiLite = { line: "gemini-lite", pattern: /gemini.*lite/ };
const geminiFlash = { line: "gemini-flash", pattern: /gemini.*flash/ };
const geminiAny = { line: "gemini", pattern: /gemini/ };
const from2048 = { rule: { ...prefix, tokensMin: 2048, stepTokens: 1 } } as const;

const geminiRows: readonly PriceRow[] = [
  rowOf(geminiPro, gemini("2.5 Pro", { usd: [1.25, 10], ...from2048, longPrompt: over200k }), [0, 0]),
  rowOf(geminiPro, gemini("3 Pro and 3.1 Pro", { usd: [2, 12], longPrompt: over200k }), [3, 0]),
  rowOf(
    geminiLite,
    gemini("2.5 Flash-Lite", { usd: [0.1, 0.4], ...from2048, assumed: ["cache", "rule"] }),
    [0, 0],
  ),
  rowOf(geminiLite, gemini("3.1 Flash-Lite", { usd: [0.25, 1.5], assumed: ["cache", "rule"] }), [3, 0]),
  rowOf(geminiFlash, gemini("2.5 Flash", { usd: [0.3, 2.5], ...from2048 }), [0, 0]),
  rowOf(geminiFlash, gemini("3 Flash", { usd: [0.5, 3], assumed: ["cache", "rule"] }), [3, 0]),
  rowOf(geminiFlash, gemini("3.5 Flash", { usd: [1.5, 9] }), [3, 5]),
  rowOf(geminiFlash, gemini("3.6 to 3.8 Flash", { usd: [0.75, 3.75] }), [3, 6]),
  rowOf(geminiAny, gemini("4 Argon", { usd: [2, 10], read: 0.05 }), [0, 0]),
];

export const priceRows: readonly PriceRow[] = [...claudeRows, ...gptRows, ...geminiRows];
