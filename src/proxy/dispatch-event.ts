import { carryOut } from "./carry-out.ts";
import { advance, type RelayCommand, type RelayEvent } from "./exchange-phases.ts";
import { faultRefusal, refusalForError, resetRefusal } from "./failures.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";
import { discardRequest } from "./upstream-request.ts";

/** Hands an event to the state machine and carries out its commands, one event after the other. */
export function dispatchEvent(relayed: RelayedExchange, event: RelayEvent): void {
  relayed.events.push(event);
  if (relayed.isAdvancing) return;
  relayed.isAdvancing = true;
  try {
    for (let next = relayed.events.shift(); next !== undefined; next = relayed.events.shift())
      handleEvent(relayed, next);
  } catch {
    // No event can throw; if one does, the client's connection is all that is left to end.
    relayed.arrival.request.socket.destroy();
  }
  relayed.isAdvancing = false;
}

function handleEvent(relayed: RelayedExchange, event: RelayEvent): void {
  const { exchange, commands } = advance(relayed.exchange, event);
  relayed.exchange = exchange;
  for (const command of commands) {
    try {
      carryOut(relayed, command);
    } catch (error) {
      onFault(relayed, command, error);
    }
  }
}

/** A command that cannot be carried out is an event, too. */
function onFault(relayed: RelayedExchange, command: RelayCommand, error: unknown): void {
  const { response, request, upstream } = relayed.arrival;
  const reason = error instanceof Error ? error : new Error("it cannot be carried out");
  switch (command.type) {
    case "open":
      discardRequest(relayed);
      relayed.dispatch({ type: "unsendable" });
      return;
    case "pass-answer": {
      const refusal = refusalForError(reason, upstream);
      relayed.dispatch({ type: "head-invalid", refusal, isBegun: response.headersSent });
      return;
    }
    case "end-answer":
    case "end-with-refusal":
    case "end-with-error":
      relayed.dispatch({ type: "end-invalid", refusal: resetRefusal(upstream) });
      return;
    case "refuse":
    case "refuse-thread":
    case "cut":
      request.socket.destroy();
      return;
    default:
      relayed.dispatch({ type: "gave-up", refusal: faultRefusal });
  }
}
