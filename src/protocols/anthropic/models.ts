/** What decides how something of ours may reach a model. */
export type ModelTraits = {
  /** Its reasoning is bound to everything before it: an edited history is refused. */
  readonly isBound: boolean;
  /** Takes system messages between the others, and such as clear themselves at the next user message. */
  readonly hasMidSystem: boolean;
};

type Row = ModelTraits & { readonly family: string; readonly since: Version };

/** Each row holds from its version on, until the next row of its family. */
const rows: readonly Row[] = [
  { family: "opus", since: [0, 0], isBound: false, hasMidSystem: false },
  { family: "opus", since: [4, 8], isBound: false, hasMidSystem: true },
  { family: "opus", since: [5, 5], isBound: true, hasMidSystem: true },
  // Whether Sonnet 5 takes them is disputed, so nothing of ours depends on it.
  { family: "sonnet", since: [0, 0], isBound: false, hasMidSystem: false },
  { family: "sonnet", since: [5, 5], isBound: true, hasMidSystem: true },
  { family: "haiku", since: [0, 0], isBound: false, hasMidSystem: false },
  { family: "haiku", since: [5, 5], isBound: true, hasMidSystem: true },
  { family: "fable", since: [0, 0], isBound: false, hasMidSystem: true },
  { family: "fable", since: [5, 1], isBound: true, hasMidSystem: true },
  { family: "mythos", since: [0, 0], isBound: false, hasMidSystem: true },
  { family: "mythos", since: [5, 1], isBound: true, hasMidSystem: true },
];

/** A model nobody has heard of is taken to forbid what any model forbids. */
const unknown: ModelTraits = { isBound: true, hasMidSystem: false };

/** Asked several times for every request, of few models. */
const known = new Map<string, ModelTraits>();
const knownMax = 1_000;

export function modelTraits(model: string | null): ModelTraits {
  const name = model ?? "";
  const traits = known.get(name) ?? traitsOf(name);
  if (known.size < knownMax) known.set(name, traits);
  return traits;
}

function traitsOf(name: string): ModelTraits {
  const family = rows.find((row) => name.includes(row.family))?.family;
  const version = versionOf(name);
  if (family === undefined || version === null) return unknown;
  return rows.findLast((row) => row.family === family && isSince(version, row.since)) ?? unknown;
}

type Version = readonly [major: number, minor: number];

function isSince([major, minor]: Version, [sinceMajor, sinceMinor]: Version): boolean {
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}

/** `claude-opus-4-8-20260101` is 4.8, `claude-3-5-sonnet-20241022` is 3.5, `claude-fable-5@x` is 5.0. */
function versionOf(name: string): Version | null {
  const [major, minor] = name.split(/[^A-Za-z0-9]+/).filter((part) => /^\d{1,2}$/.test(part));
  return major === undefined ? null : [Number(major), Number(minor ?? 0)];
}

/** The betas we may ask for on somebody's behalf. */
export const clearAtBeta = "mid-conversation-system-clear-at-2026-08-21";
