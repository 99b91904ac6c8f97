import type { View } from "../../engine/index.ts";
import type { Moment } from "../../engine/moment/index.ts";
import type { LedgerStream, Plan } from "../../ledger/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import type { ClientPrompt } from "./client-prompt.ts";

/** A prompt as the ledger planned it, and the moment it shows: later frames are not in it. */
export type RunPrompt = {
  readonly timeMs: number;
  readonly moment: Moment;
  readonly view: View;
  readonly client: ClientPrompt;
  /** The request of the agent's client. */
  readonly request: WireRequest;
  /** The ledger after the prompt. */
  readonly ledger: LedgerStream;
  readonly plan: Plan;
  /** The planned body. */
  readonly body: WireRequest;
  readonly wishesSeq: number;
};
