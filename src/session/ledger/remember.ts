import { type AnswerUnit, ingestRequest, readAnswer, type WireRequest } from "../../protocols/index.ts";
import type { RememberedStream, RememberedTurn } from "../desk-port.ts";
import type { Line } from "./line.ts";

/** Puts back what the log knows of a stream. What it does not know is treated as new. */
export function recall(line: Line, { turns, wasManaged }: RememberedStream): void {
  line.wasManaged = wasManaged;
  line.isManaged = wasManaged;
  for (const turn of turns) recallTurn(line, turn);
}

function recallTurn({ ledger }: Line, { body, path, answer, turn }: RememberedTurn): void {
  const request: WireRequest | null = ingestRequest(body, null);
  if (request === null) return;
  const leaf = ledger.recall({ request, path, turn });
  if (leaf === null || answer === null) return;
  const units: readonly AnswerUnit[] = readAnswer(answer.body, answer.contentType).units;
  ledger.heard(leaf, units);
}
