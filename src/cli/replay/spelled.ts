import { must } from "../../base/index.ts";
import type { SentTurn, SentUnit, State } from "../../engine/index.ts";
import { ingestRequest, type WireGroup } from "../../protocols/index.ts";
import type { BodyEvidence } from "./evidence.ts";

export type Spelled = { readonly identical: number; readonly all: number };

/**
 * Managed requests are spelled anew from the ledger: unit by unit, what the log says was sent must stand in
 * the body that went up, in that order and with these bytes. Only a last text for one turn may stand behind.
 */
export function checkSpelling(state: State, bodies: readonly BodyEvidence[], problems: string[]): Spelled {
  const sent = new Map(sentTurns(state).map((turn) => [turn.exchange, turn]));
  let [identical, all] = [0, 0];
  for (const { request, side, bytes } of bodies) {
    const turn = sent.get(request);
    const isManaged = state.exchanges.get(request - 1)?.rendering === "managed";
    if (side !== "upstream-request" || turn === undefined || !isManaged || !(bytes instanceof Uint8Array))
      continue;
    all += 1;
    if (isSpelled(ledgerOf(state, turn), unitsOf(bytes))) identical += 1;
    else problems.push(`request ${request}: the ledger does not spell what went up`);
  }
  return { identical, all };
}

function sentTurns({ views }: State): readonly SentTurn[] {
  return [...views.entries()].flatMap(([, { sent }]) => [...sent.entries()].map(([, turn]) => turn));
}

/** The bytes of each unit of a turn, by hash, first to last. */
function ledgerOf({ units }: State, { leaf }: SentTurn): readonly string[] {
  const hashes: string[] = [];
  for (let id: SentTurn["leaf"] | null = leaf; id !== null; ) {
    const unit: SentUnit = must(units.get(id), "a path is made of sent units");
    hashes.push(unit.bytes);
    id = unit.parent;
  }
  return hashes.reverse();
}

/**
 * What a model reads, in its order; tools that wait to be named are no part of it. Null for a message without
 * content: it counts as a unit, and has no bytes of its own.
 */
function unitsOf(bytes: Uint8Array): readonly (string | null)[] {
  const request = ingestRequest(bytes, null);
  if (request === null) return [];
  const hashes = ({ units }: WireGroup): readonly (string | null)[] =>
    units.filter(({ isDeferred }) => !isDeferred).map(({ hash }) => hash);
  const talk = request.messages.flatMap((group) => (group.units.length === 0 ? [null] : hashes(group)));
  return [...hashes(request.tools), ...hashes(request.system), ...talk];
}

function isSpelled(ledger: readonly string[], body: readonly (string | null)[]): boolean {
  const behind = body.length - ledger.length;
  const isSame = ledger.every((hash, at) => body[at] === hash || body[at] === null);
  return isSame && (behind === 0 || behind === 1);
}
