import type { Seq, StreamId, ViewId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import {
  type AllWishes,
  addAnswer,
  type LedgerStream,
  nameBlocks,
  noWishes,
  openStream,
} from "../ledger/index.ts";
import { IdPool } from "../log/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import { type ViewAnswer, ViewRecorder } from "../recorder/index.ts";
import { keyedAnswer } from "./prompt/answer-units.ts";
import type { ClientPrompt } from "./prompt/client-prompt.ts";
import type { RunPrompt } from "./prompt/run-prompt.ts";
import { wire } from "./runtime-protocol.ts";

export type AgentStreamInput = Pick<AgentStream, "view" | "stream" | "openedSeq"> & {
  readonly nonce: string;
};

/** An agent in a stream: its ledger, its last prompt, its wishes. All of it can be restored from the log. */
export class AgentStream {
  readonly view: ViewId;
  readonly stream: StreamId;
  /** Later frames are noted as they are appended, earlier ones are read from the store. */
  readonly openedSeq: Seq;
  readonly recorder: ViewRecorder;
  ids: IdPool;
  ledger: LedgerStream;
  wishes: AllWishes = noWishes();
  /** The last prompt as the client composed it. Null if none was sent, or if it cannot be continued. */
  last: ClientPrompt | null = null;
  /** The body that was sent for it: the next body is read from where the two part. */
  lastBody: WireRequest | null = null;
  /** When the last prompt was sent. */
  sentMs: number | null = null;
  /** The model of the last prompt. */
  model: string | null = null;
  /** The seq of the wishes that the last prompt was planned with. */
  wishesSeq = 0;
  /** The last planned prompt, for a second look at the same moment. */
  planned: RunPrompt | null = null;
  isRestored = false;

  constructor({ view, stream, nonce, openedSeq }: AgentStreamInput) {
    this.view = view;
    this.stream = stream;
    this.openedSeq = openedSeq;
    this.recorder = new ViewRecorder(view, stream);
    this.ids = new IdPool(stream);
    this.ledger = newLedger(nonce);
  }

  noteFrame(frame: Frame): void {
    this.recorder.noteFrame(frame);
  }

  /** Takes over a prompt that was sent. */
  noteSent({ client, ledger, body, wishesSeq }: RunPrompt, nowMs: number): void {
    this.ledger = ledger;
    this.last = client;
    this.lastBody = body;
    this.sentMs = nowMs;
    this.model = body.model;
    this.wishesSeq = wishesSeq;
    this.planned = null;
  }

  /** Takes over an answer that was recorded. */
  noteAnswer(answer: ViewAnswer): void {
    const { units, usage, added } = answer;
    const blocks = added.map(({ block }) => block);
    const named = nameBlocks(this.ledger, keyedAnswer(units, blocks));
    this.ledger = addAnswer(named, named.lastLeaf, { units, usage, changesSeq: this.wishesSeq }).stream;
    this.recorder.noteAnswer(answer);
  }
}

/** The ledger of an agent that was never asked. The log numbers its blocks. */
export function newLedger(nonce: string): LedgerStream {
  return openStream({ protocol: wire, nonce, isNew: false, session: null, isComplete: true });
}
