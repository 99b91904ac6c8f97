import { boundedTokens } from "./bound.ts";
import { type Change, changesText, isDecision } from "./diff.ts";
import type { ManifestFacts } from "./facts.ts";
import type { ManifestOptions } from "./manifest.ts";
import { idsText, sizeText } from "./numbers.ts";

export const changeNoteTokensMax = 40;
/** An expiry this near is worth a note of its own. */
const expiryTurns = 3;

/** From roomy to bare. */
const fits = [
  { changes: 3, reasonChars: 24, expiries: 2, free: true },
  { changes: 2, reasonChars: 16, expiries: 1, free: true },
  { changes: 1, reasonChars: 0, expiries: 1, free: true },
  { changes: 1, reasonChars: 0, expiries: 0, free: false },
  { changes: 0, reasonChars: 0, expiries: 1, free: false },
] as const;
type Fit = (typeof fits)[number];

/**
 * One line for where a text stays for good, so that it is said only when there is something to say:
 * `[k7f3 turn 34: user pinned #31; #43 expires at 37; 60k free]`
 */
export function changeNote(facts: ManifestFacts, options: ManifestOptions): string | null {
  const near = facts.expiring.filter(({ at }) => at - options.turn <= expiryTurns);
  if (facts.changes.length === 0 && near.length === 0) return null;
  const changes = [...facts.changes].sort((a, b) => urgency(b) - urgency(a));
  let text = "";
  for (const fit of fits) {
    text = noteText({ ...facts, changes, expiring: near }, options, fit);
    if (boundedTokens(text) <= changeNoteTokensMax) break;
  }
  return text;
}

/** What the user points at is meant for this very turn, and a decision is told only once. */
function urgency(change: Change): number {
  if (isDecision(change)) return 2;
  return change.what === "selected" || change.what === "focused" ? 1 : 0;
}

function noteText(facts: ManifestFacts, { nonce, turn, fill }: ManifestOptions, fit: Fit): string {
  const { changes, expiring, free, exact } = facts;
  const turns = [...new Set(expiring.map(({ at }) => at))].slice(0, fit.expiries);
  const expiries = turns.map((at) => {
    const ids = expiring.filter((one) => one.at === at).map(({ block }) => block);
    return `${idsText(ids, 2)} ${ids.length === 1 ? "expires" : "expire"} at ${at}`;
  });
  const parts = [
    changes.length === 0
      ? ""
      : changesText(changes, { nonce, max: fit.changes, reasonChars: fit.reasonChars }),
    ...expiries,
    fit.free && fill === "shown" && free !== null ? `${exact ? "" : "~"}${sizeText(free)} free` : "",
  ];
  return `[${nonce} turn ${turn}: ${parts.filter((part) => part !== "").join("; ")}]`;
}
