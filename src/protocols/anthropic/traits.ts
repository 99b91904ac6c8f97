import type { ModelTraits } from "../protocol.ts";

type TraitsRow = ModelTraits & { readonly family: string; readonly since: ModelVersion };

/** Each row holds from its version on, until the next row of its family. */
const rows: readonly TraitsRow[] = [
  { family: "opus", since: [0, 0], isBound: false, hasMidSystem: false },
  { family: "opus", since: [4, 8], isBound: false, hasMidSystem: true },
  { family: "opus", since: [5, 5], isBound: true, hasMidSystem: true },
  // It is disputed if Sonnet 5 takes system messages in between, so we do not rely on it.
  { family: "sonnet", since: [0, 0], isBound: false, hasMidSystem: false },
  { family: "sonnet", since: [5, 5], isBound: true, hasMidSystem: true },
  { family: "haiku", since: [0, 0], isBound: false, hasMidSystem: false },
  { family: "haiku", since: [5, 5], isBound: true, hasMidSystem: true },
  { family: "fable", since: [0, 0], isBound: false, hasMidSystem: true },
  { family: "fable", since: [5, 1], isBound: true, hasMidSystem: true },
  { family: "mythos", since: [0, 0], isBound: false, hasMidSystem: true },
  { family: "mythos", since: [5, 1], isBound: true, hasMidSystem: true },
];

/** An unknown model is assumed to have every restriction that some model has. */
const unknown: ModelTraits = { isBound: true, hasMidSystem: false };

/** Every request looks its model up several times, and there are few models. */
const cached = new Map<string, ModelTraits>();
const cachedMax = 1_000;

export function modelTraits(model: string | null): ModelTraits {
  const name = model ?? "";
  const traits = cached.get(name) ?? traitsOf(name);
  if (cached.size < cachedMax) cached.set(name, traits);
  return traits;
}

function traitsOf(name: string): ModelTraits {
  const family = rows.find((row) => name.includes(row.family))?.family;
  const version = versionOf(name);
  if (family === undefined || version === null) return unknown;
  return rows.findLast((row) => row.family === family && isSince(version, row.since)) ?? unknown;
}

type ModelVersion = readonly [major: number, minor: number];

function isSince([major, minor]: ModelVersion, [sinceMajor, sinceMinor]: ModelVersion): boolean {
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}

/** `claude-opus-4-8-20260101` is 4.8, `claude-3-5-sonnet-20241022` is 3.5, `claude-fable-5@x` is 5.0. */
function versionOf(name: string): ModelVersion | null {
  const [major, minor] = name.split(/[^A-Za-z0-9]+/).filter((part) => /^\d{1,2}$/.test(part));
  return major === undefined ? null : [Number(major), Number(minor ?? 0)];
}

/** The beta that self-clearing system messages need; we may add it to a client's request. */
export const clearAtBeta = "mid-conversation-system-clear-at-2026-08-21";
