import { must } from "../../base/index.ts";
import type { RecordedExchange } from "../../engine/frames/index.ts";
import type { SentTurn, SentUnit, State } from "../../engine/index.ts";
import { readStoredRequest, type WireGroup } from "../../protocols/index.ts";
import type { BodyEvidence } from "./evidence.ts";

export type LedgerMatches = { readonly identical: number; readonly all: number };

/**
 * Compares managed requests with the ledger: the units that the log says were sent must stand in the upstream
 * body, in that order and with these bytes. Only the tail of one turn may follow.
 */
export function checkLedger(
  state: State,
  bodies: readonly BodyEvidence[],
  problems: string[],
): LedgerMatches {
  const sent = new Map(sentTurns(state).map((turn) => [turn.exchange, turn]));
  let [identical, all] = [0, 0];
  for (const { request, side, bytes } of bodies) {
    const turn = sent.get(request);
    const exchange = state.exchanges.get(request - 1);
    if (side !== "upstream-request" || turn === undefined || exchange?.rendering !== "managed") continue;
    if (!(bytes instanceof Uint8Array)) continue;
    all += 1;
    if (matchesLedger(sentHashes(state, turn), bodyHashes(bytes, exchange))) identical += 1;
    else problems.push(`request ${request}: the upstream body differs from the ledger`);
  }
  return { identical, all };
}

function sentTurns({ views }: State): readonly SentTurn[] {
  return [...views.entries()].flatMap(([, { sent }]) => [...sent.entries()].map(([, turn]) => turn));
}

/** The hashes of the units of a turn, first to last. */
function sentHashes({ units }: State, { leaf }: SentTurn): readonly string[] {
  const hashes: string[] = [];
  for (let id: SentTurn["leaf"] | null = leaf; id !== null; ) {
    const unit: SentUnit = must(units.get(id), "a path is made of sent units");
    hashes.push(unit.bytes);
    id = unit.parent;
  }
  return hashes.reverse();
}

/**
 * The units of a body in the order in which a model reads them; deferred tools are not among them. Null for a
 * message without content: it counts as a unit and has no bytes.
 */
function bodyHashes(bytes: Uint8Array, exchange: RecordedExchange): readonly (string | null)[] {
  const request = readStoredRequest(bytes, exchange);
  if (request === null) return [];
  const hashes = ({ units }: WireGroup): readonly (string | null)[] =>
    units.filter(({ isDeferred }) => !isDeferred).map(({ hash }) => hash);
  const messages = request.messages.flatMap((group) => (group.units.length === 0 ? [null] : hashes(group)));
  return [...hashes(request.tools), ...hashes(request.system), ...messages];
}

function matchesLedger(ledger: readonly string[], body: readonly (string | null)[]): boolean {
  const extra = body.length - ledger.length;
  const isSame = ledger.every((hash, at) => body[at] === hash || body[at] === null);
  return isSame && (extra === 0 || extra === 1);
}
