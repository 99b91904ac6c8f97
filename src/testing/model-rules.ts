/** The requests a model accepts. The table is data: a new model is a new row. */
export type ModelRules = {
  readonly family: string;
  readonly version: number;
  /** Its reasoning is bound to everything before it. */
  readonly isBound: boolean;
  readonly thinking: readonly ThinkingType[];
  /** It takes tool_choice `any` and `tool`. */
  readonly mayForceTools: boolean;
  /** It takes `role: "system"` inside the messages. */
  readonly hasMidSystem: boolean;
  /** The last message may be the assistant's. */
  readonly mayPrefill: boolean;
  /** It takes `context_management`. */
  readonly hasContextEdits: boolean;
  readonly cacheTokensMin: number;
  readonly windowTokens: number;
};

export type ThinkingType = "enabled" | "adaptive" | "disabled" | "between_tools";

const manual = ["enabled", "disabled"] as const;
const either = ["enabled", "adaptive", "disabled"] as const;
const adaptive = ["adaptive", "disabled"] as const;
const always = ["adaptive", "between_tools"] as const;

const oldest = {
  isBound: false,
  thinking: manual,
  mayForceTools: true,
  hasMidSystem: false,
  mayPrefill: true,
  hasContextEdits: false,
  cacheTokensMin: 1024,
  windowTokens: 200_000,
} as const;
const fourth = { ...oldest, hasContextEdits: true } as const;
const wide = { ...fourth, thinking: either, mayPrefill: false, windowTokens: 1_000_000 } as const;
const recent = { ...wide, thinking: adaptive } as const;
const fifth = { ...recent, hasMidSystem: true, cacheTokensMin: 512 } as const;
const newest = { ...fifth, isBound: true, thinking: always, mayForceTools: false } as const;

/** Each row holds from its version on, until the next row of its family. */
const rows: readonly ModelRules[] = [
  { family: "opus", version: 0, ...oldest },
  { family: "opus", version: 4, ...fourth },
  { family: "opus", version: 4.5, ...fourth, cacheTokensMin: 4096 },
  { family: "opus", version: 4.6, ...wide, cacheTokensMin: 4096 },
  { family: "opus", version: 4.7, ...recent, cacheTokensMin: 2048 },
  { family: "opus", version: 4.8, ...recent, hasMidSystem: true },
  { family: "opus", version: 5, ...fifth },
  { family: "opus", version: 5.5, ...newest },
  { family: "sonnet", version: 0, ...oldest },
  { family: "sonnet", version: 4, ...fourth },
  { family: "sonnet", version: 4.6, ...wide },
  { family: "sonnet", version: 5, ...recent, hasMidSystem: true },
  { family: "sonnet", version: 5.5, ...newest },
  { family: "haiku", version: 0, ...oldest, cacheTokensMin: 2048 },
  { family: "haiku", version: 4.5, ...fourth, cacheTokensMin: 4096 },
  { family: "haiku", version: 5.5, ...fifth, isBound: true },
  { family: "fable", version: 0, ...fifth, thinking: always },
  { family: "fable", version: 5.1, ...newest },
  { family: "mythos", version: 0, ...fifth, thinking: always },
  { family: "mythos", version: 5.1, ...newest },
  // The demo model takes everything a client may send to a model it does not know.
  { family: "demo", version: 0, ...fourth, thinking: either, hasMidSystem: true, cacheTokensMin: 512 },
];

/** The models in the list that a client may request. */
export const listedModels: readonly string[] = [
  "claude-fable-5-2",
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-opus-4-8",
  "claude-opus-4-6",
  "claude-sonnet-4-5",
  "claude-haiku-4-5",
];

/**
 * A `claude-` or `strict-` name without a row gets the newest rules, as a future model will. Null for others.
 */
export function modelRules(name: string): ModelRules | null {
  if (!/^(?:claude|strict)-[a-z0-9-]+(?:\[1m\])?$/.test(name)) return null;
  const family = rows.find((row) => name.includes(row.family))?.family;
  const version = versionOf(name);
  if (family === undefined || version === null) return { family: "unknown", version: 99, ...newest };
  return rows.findLast((row) => row.family === family && row.version <= version) ?? null;
}

/** `claude-opus-4-7-20260101` is 4.7, `claude-3-5-sonnet-20241022` is 3.5, `claude-sonnet-5` is 5. */
function versionOf(name: string): number | null {
  const numbers = name.split(/[-[]/).filter((part) => /^\d{1,2}$/.test(part));
  return numbers.length === 0 ? null : Number(numbers.slice(0, 2).join("."));
}
