import type { WireRequest } from "../../protocols/index.ts";
import type { Sending } from "../desk-port.ts";
import { StreamLedger } from "./stream-ledger.ts";

/** A stream as the desk has it: its ledger, and how it is to be treated. */
export type Line = {
  readonly key: string;
  /** What the session is called where its client does not call it anything. */
  readonly talkName: string | null;
  readonly nonce: string;
  ledger: StreamLedger;
  /** Whether it is rendered by us, as long as the mode allows it. */
  isManaged: boolean;
  /** Whether anything of ours was ever sent; unknown where the log could not be asked. */
  wasManaged: boolean | "unknown";
  /** Whether the log was asked. A first request is not kept waiting, though it may be no beginning. */
  readonly isAsked: boolean;
  /** What the record was when it was last told something, see `DeskPlace`. */
  record: number;
  /** The last request, to take unchanged parts over from. */
  last: Last | null;
  lastMs: number;
  /** Requests that wait for their answer, with what they say. */
  readonly open: Map<Sending, readonly string[]>;
  /** What must not be sent any more. */
  withheld: ReadonlyMap<string, Uint8Array>;
};

/** A request, and whether anybody still needs the memory of its body besides the line itself. */
export type Last = {
  readonly id: string;
  readonly request: WireRequest;
  isOver: boolean;
  hasLeft: boolean;
};

export type LineAsked = {
  readonly key: string;
  readonly talkName: string | null;
  readonly nonce: string;
  readonly wasManaged: boolean | "unknown";
  readonly isAsked: boolean;
  readonly record: number;
};

export function openLine(asked: LineAsked): Line {
  const { nonce, wasManaged } = asked;
  return {
    ...asked,
    ledger: new StreamLedger(nonce, wasManaged === false),
    isManaged: false,
    last: null,
    lastMs: 0,
    open: new Map(),
    withheld: new Map(),
  };
}

/** Nothing that was sent counts any more: the next request begins anew, without any old reasoning. */
export function startOver(line: Line): void {
  line.ledger = new StreamLedger(line.nonce, false);
  line.ledger.withhold(line.withheld);
  line.wasManaged = true;
  line.last = null;
}
