import type { Change, ManifestFacts } from "../awareness/index.ts";
import { boundedTokens } from "./bound.ts";
import { type ChangeList, changeList, isDecision, readChanges, writeChanges } from "./changes-text.ts";
import type { Expiry } from "./expiry.ts";
import type { ManifestOptions } from "./manifest.ts";
import { splitUnquoted } from "./safe-text.ts";
import {
  type IdList,
  idList,
  readIds,
  readSize,
  roundSize,
  type Size,
  sizePattern,
  writeIds,
  writeSize,
} from "./sizes-and-ids.ts";

export const changeNoteTokensMax = 40;
/** An expiry within so many turns is reported even if nothing else changed. */
const expiryTurns = 3;

/** Layouts from the largest to the smallest. */
const fits = [
  { changes: 3, reasonChars: 24, expiries: 2, free: true },
  { changes: 2, reasonChars: 16, expiries: 1, free: true },
  { changes: 1, reasonChars: 0, expiries: 1, free: true },
  { changes: 1, reasonChars: 0, expiries: 0, free: false },
  { changes: 0, reasonChars: 0, expiries: 1, free: false },
] as const;
type ChangeNoteFit = (typeof fits)[number];

/** The note for a carrier that keeps every text permanently; written only if something changed. */
export type ChangeNote = {
  readonly nonce: string;
  readonly turn: number;
  readonly changes: ChangeList;
  readonly expiries: readonly Expiry[];
  readonly free: Size | null;
};

export function changeNote(facts: ManifestFacts, options: ManifestOptions): string | null {
  const near = facts.expiring.filter(({ at }) => at - options.turn <= expiryTurns);
  if (facts.changes.length === 0 && near.length === 0) return null;
  const changes = [...facts.changes].sort((a, b) => urgency(b) - urgency(a));
  let text = "";
  for (const fit of fits) {
    text = writeChangeNote(fittingNote({ ...facts, changes, expiring: near }, options, fit));
    if (boundedTokens(text) <= changeNoteTokensMax) break;
  }
  return text;
}

/** Higher is kept longer: a decision is reported only once, and a selection concerns this turn. */
function urgency(change: Change): number {
  if (isDecision(change)) return 2;
  return change.what === "selected" || change.what === "focused" ? 1 : 0;
}

function fittingNote(facts: ManifestFacts, options: ManifestOptions, fit: ChangeNoteFit): ChangeNote {
  const { nonce, turn, fill } = options;
  const { changes, expiring, free, exact } = facts;
  const turns = [...new Set(expiring.map(({ at }) => at))].slice(0, fit.expiries);
  const blocksAt = (turn: number) => expiring.filter(({ at }) => at === turn).map(({ block }) => block);
  return {
    nonce,
    turn,
    changes: changeList(changes, { nonce, max: fit.changes, reasonChars: fit.reasonChars }),
    expiries: turns.map((at) => ({ at, blocks: idList(blocksAt(at), 2) })),
    free: fit.free && fill === "shown" && free !== null ? roundSize({ tokens: free, exact }) : null,
  };
}

/** `[k7f3 turn 34: user pinned #31; #43 expires at 37; 60k free]` */
export function writeChangeNote({ nonce, turn, changes, expiries, free }: ChangeNote): string {
  const parts = [
    writeChanges(changes),
    ...expiries.map(
      ({ blocks, at }) => `${writeIds(blocks)} ${isOne(blocks) ? "expires" : "expire"} at ${at}`,
    ),
    free === null ? "" : `${writeSize(free)} free`,
  ];
  return `[${nonce} turn ${turn}: ${parts.filter((part) => part !== "").join("; ")}]`;
}

function isOne({ ranges, more }: IdList): boolean {
  const [first] = ranges;
  return ranges.length === 1 && more === 0 && first?.from === first?.to;
}

export function readChangeNote(text: string): ChangeNote | null {
  const found = noteForm.exec(text);
  if (found === null) return null;
  const [, nonce = "", turn, body = ""] = found;
  const parts = body === "" ? [] : splitUnquoted(body, "; ");
  const [, size] = freeForm.exec(parts.at(-1) ?? "") ?? [];
  const free = size === undefined ? null : readSize(size);
  if (free !== null) parts.pop();
  const expiries: Expiry[] = [];
  for (let read = readExpiry(parts.at(-1)); read !== null; read = readExpiry(parts.at(-1))) {
    expiries.unshift(read);
    parts.pop();
  }
  const changes = readChanges(parts.join("; "));
  return changes === null ? null : { nonce, turn: Number(turn), changes, expiries, free };
}

const noteForm = /^\[(\w+) turn (\d+): (.*)\]$/s;
const freeForm = new RegExp(`^(${sizePattern}) free$`);

function readExpiry(text = ""): Expiry | null {
  const [, ids = "", at] = /^(.*) expires? at (\d+)$/.exec(text) ?? [];
  const blocks = at === undefined ? null : readIds(ids);
  return blocks === null ? null : { blocks, at: Number(at) };
}
