import { ingestRequest, readAnswer, unitBytes, type WireRequest } from "../../protocols/index.ts";
import type { RememberedStream, RememberedTurn } from "../desk-port.ts";
import { clientUnits } from "./client-units.ts";
import { countedBy } from "./counted.ts";
import type { Line } from "./line.ts";
import type { OriginalOf, RecalledTurn } from "./recalled.ts";

/** Puts back what the log knows of a stream. What it does not know is treated as new. */
export function recall(line: Line, { turns, wasManaged }: RememberedStream): void {
  line.wasManaged = wasManaged;
  line.isManaged = wasManaged;
  const read = turns.flatMap((turn) => {
    const request: WireRequest | null = ingestRequest(turn.body, null);
    return request === null ? [] : [{ ...turn, request }];
  });
  const originalOf = originalsIn(read.map(({ request }) => request));
  for (const turn of read) recallTurn(line, { ...turn, originalOf });
}

type ReadTurn = RememberedTurn & RecalledTurn;

function recallTurn(line: Line, { answer, ...recalled }: ReadTurn): void {
  const { ledger } = line;
  const leaf = ledger.recall(recalled);
  if (leaf === null || answer === null) return;
  const { units, usage } = readAnswer(answer.body, answer.contentType);
  line.counted = countedBy(usage, leaf) ?? line.counted;
  ledger.heard(leaf, units);
}

/** What is shown in other words now was once sent in its own, on a path before; looked up if asked. */
function originalsIn(requests: readonly WireRequest[]): OriginalOf {
  let units: ReadonlyMap<string, () => Uint8Array> | null = null;
  return (content) => {
    units ??= new Map(requests.flatMap(wordsIn));
    return units.get(content)?.() ?? null;
  };
}

function wordsIn(request: WireRequest): readonly (readonly [string, () => Uint8Array])[] {
  return clientUnits(request, 0).map(({ unit, group }) => [
    unit.hash,
    () => Uint8Array.from(unitBytes(request.bytes, group.range.start, unit)),
  ]);
}
