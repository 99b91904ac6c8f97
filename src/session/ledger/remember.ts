import { ingestRequest, readAnswer, type WireRequest } from "../../protocols/index.ts";
import type { RememberedStream, RememberedTurn } from "../desk-port.ts";
import { countedBy } from "./counted.ts";
import type { Line } from "./line.ts";

/** Puts back what the log knows of a stream. What it does not know is treated as new. */
export function recall(line: Line, { turns, wasManaged }: RememberedStream): void {
  line.wasManaged = wasManaged;
  line.isManaged = wasManaged;
  for (const turn of turns) recallTurn(line, turn);
}

function recallTurn(line: Line, { body, path, answer, turn }: RememberedTurn): void {
  const { ledger } = line;
  const request: WireRequest | null = ingestRequest(body, null);
  if (request === null) return;
  const leaf = ledger.recall({ request, path, turn });
  if (leaf === null || answer === null) return;
  const { units, usage } = readAnswer(answer.body, answer.contentType);
  line.counted = countedBy(usage, leaf) ?? line.counted;
  ledger.heard(leaf, units);
}
