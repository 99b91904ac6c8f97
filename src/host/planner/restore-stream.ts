import type { StreamRecord, TurnRecord } from "../../exchange/index.ts";
import { clientUnits, type OriginalLookup, promptCountOf, type TurnToRestore } from "../../ledger/index.ts";
import { readWireAnswer, readWireRequest, unitBytes, type WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";

/** Restores the recorded turns of a stream into its ledger. Turns that cannot be read count as never sent. */
export function restoreStream(stream: LiveStream, { turns, wasManaged }: StreamRecord): void {
  stream.wasManaged = wasManaged;
  stream.isManaged = wasManaged;
  const parsed = turns.flatMap((turn) => {
    const request: WireRequest | null = readWireRequest(turn.body, null);
    return request === null ? [] : [{ ...turn, request }];
  });
  const originalOf = originalsIn(parsed.map(({ request }) => request));
  for (const turn of parsed) restoreTurn(stream, { ...turn, findOriginal: originalOf });
}

type RestoredTurn = TurnRecord & TurnToRestore;

function restoreTurn(stream: LiveStream, { answer, ...turn }: RestoredTurn): void {
  const { ledger } = stream;
  const leaf = ledger.restoreTurn(turn);
  if (leaf === null || answer === null) return;
  const { units, usage } = readWireAnswer(answer.body, answer.contentType);
  stream.countedPrompt = promptCountOf(usage, leaf) ?? stream.countedPrompt;
  ledger.addAnswer(leaf, units);
}

/**
 * Finds the original of a rewritten unit in an earlier request of the stream. The index is built on first
 * use.
 */
function originalsIn(requests: readonly WireRequest[]): OriginalLookup {
  let units: ReadonlyMap<string, () => Uint8Array> | null = null;
  return (content) => {
    units ??= new Map(requests.flatMap(unitsByHash));
    return units.get(content)?.() ?? null;
  };
}

function unitsByHash(request: WireRequest): readonly (readonly [string, () => Uint8Array])[] {
  return clientUnits(request, 0).map(({ unit, group }) => [
    unit.hash,
    () => Uint8Array.from(unitBytes(request.bytes, group.range.start, unit)),
  ]);
}
