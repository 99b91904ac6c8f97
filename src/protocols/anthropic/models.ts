/** What decides how something of ours may reach a model. */
export type ModelTraits = {
  /** Its reasoning is bound to everything before it: an edited history is refused. */
  readonly isBound: boolean;
  /** Takes system messages between the others, and such as clear themselves at the next user message. */
  readonly hasMidSystem: boolean;
};

type Row = ModelTraits & { readonly family: string; readonly since: number };

/** Each row holds from its version on, until the next row of its family. */
const rows: readonly Row[] = [
  { family: "opus", since: 0, isBound: false, hasMidSystem: false },
  { family: "opus", since: 4.8, isBound: false, hasMidSystem: true },
  { family: "opus", since: 5.5, isBound: true, hasMidSystem: true },
  // Whether Sonnet 5 takes them is disputed, so nothing of ours depends on it.
  { family: "sonnet", since: 0, isBound: false, hasMidSystem: false },
  { family: "sonnet", since: 5.5, isBound: true, hasMidSystem: true },
  { family: "haiku", since: 0, isBound: false, hasMidSystem: false },
  { family: "haiku", since: 5.5, isBound: true, hasMidSystem: true },
  { family: "fable", since: 0, isBound: false, hasMidSystem: true },
  { family: "fable", since: 5.1, isBound: true, hasMidSystem: true },
  { family: "mythos", since: 0, isBound: false, hasMidSystem: true },
  { family: "mythos", since: 5.1, isBound: true, hasMidSystem: true },
];

/** A model nobody has heard of is taken to forbid what any model forbids. */
const unknown: ModelTraits = { isBound: true, hasMidSystem: false };

export function modelTraits(model: string | null): ModelTraits {
  const name = model ?? "";
  const family = rows.find((row) => name.includes(row.family))?.family;
  const version = versionOf(name);
  if (family === undefined || version === null) return unknown;
  return rows.findLast((row) => row.family === family && row.since <= version) ?? unknown;
}

/** `claude-opus-4-8-20260101` is 4.8, `claude-3-5-sonnet-20241022` is 3.5, `claude-fable-5` is 5. */
function versionOf(name: string): number | null {
  const numbers = name.split(/[-.[]/).filter((part) => /^\d{1,2}$/.test(part));
  return numbers.length === 0 ? null : Number(numbers.slice(0, 2).join("."));
}

/** The betas we may ask for on somebody's behalf. */
export const clearAtBeta = "mid-conversation-system-clear-at-2026-08-21";
