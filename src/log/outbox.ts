import { type ApertureError, fail, limits, type Result } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import type { Batch, Store } from "../store/index.ts";

/** Contents and bodies that are written with a frame, or not at all. */
export type FrameAttachments = Pick<Batch, "contents" | "bodies">;

type UnconfirmedFrame = {
  readonly frame: Frame;
  readonly attached: FrameAttachments;
  readonly settle: (result: Result<void>) => void;
  /** Null unless the store refused the frame. */
  refusal: ApertureError | null;
};

export type OutboxResult =
  | { readonly accepted: true; readonly durable: Promise<Result<void>> }
  | OutboxRefusal;
type OutboxRefusal = { readonly accepted: false; readonly error: ApertureError };

/**
 * Frames on their way to the store. One refused frame would leave a gap that refuses all after it, so refused
 * frames are sent again in order: unchanged if they were refused for the gap, without attachments if the
 * store refused those. If that fails too, the log ends there: every later frame is refused with the same
 * error, and the session must be opened again.
 */
export class Outbox {
  readonly #store: Store;
  readonly #unconfirmed = new Map<number, UnconfirmedFrame>();
  #isHealing = false;
  #fault: ApertureError | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The error that ended the log; null while frames can be sent. */
  get fault(): ApertureError | null {
    return this.#fault;
  }

  /** True if the store has confirmed every frame. */
  get isConfirmed(): boolean {
    return this.#unconfirmed.size === 0;
  }

  /** A frame the store has not confirmed yet: undo must work while the disk does not. */
  unconfirmed(seq: number): Frame | null {
    return this.#unconfirmed.get(seq)?.frame ?? null;
  }

  send(frame: Frame, attached: FrameAttachments): OutboxResult {
    if (this.#fault !== null) return { accepted: false, error: this.#fault };
    const sent = this.#isHealing ? this.#holdBack() : this.#post(frame, attached);
    if (!sent.accepted) return sent;
    const durable = new Promise<Result<void>>((settle) => {
      this.#unconfirmed.set(frame.seq, { frame, attached, settle, refusal: null });
    });
    if (sent.result !== null) void sent.result.then((result) => this.#noteResult(frame.seq, result));
    return { accepted: true, durable };
  }

  /** While earlier frames are sent again, this one waits behind them. */
  #holdBack(): OutboxRefusal | { readonly accepted: true; readonly result: null } {
    const frames = this.#unconfirmed.size;
    if (frames < limits.queueFramesMax) return { accepted: true, result: null };
    return { accepted: false, error: fail("AP_STORE_QUEUE_FULL", { frames, bytes: 0 }).error };
  }

  #post(
    frame: Frame,
    attached: FrameAttachments,
  ): OutboxRefusal | { accepted: true; result: Promise<Result<void>> } {
    const appended = this.#store.append({ frames: [frame], ...attached });
    if (!appended.accepted) return { accepted: false, error: appended.refused.error };
    return { accepted: true, result: appended.durable };
  }

  #noteResult(seq: number, result: Result<void>): void {
    const waiting = this.#unconfirmed.get(seq);
    if (waiting === undefined) return;
    if (result.ok) this.#confirm(waiting, result);
    else {
      waiting.refusal = result.error;
      if (!this.#isHealing) void this.#heal();
    }
  }

  #confirm(waiting: UnconfirmedFrame, result: Result<void>): void {
    this.#unconfirmed.delete(waiting.frame.seq);
    waiting.settle(result);
  }

  async #heal(): Promise<void> {
    this.#isHealing = true;
    await this.#store.flush();
    // Frames sent while this runs are added at the end and reached by the same loop.
    for (const waiting of this.#unconfirmed.values()) {
      const result = await this.#resend(waiting);
      if (!result.ok) {
        this.#giveUp(result.error);
        break;
      }
    }
    this.#isHealing = false;
  }

  async #resend(waiting: UnconfirmedFrame): Promise<Result<void>> {
    const { frame, attached, refusal } = waiting;
    const isOwnFault = refusal !== null && refusal.code !== "AP_STORE_GAP";
    const sent = this.#post(frame, isOwnFault ? {} : attached);
    const result: Result<void> = sent.accepted ? await sent.result : { ok: false, error: sent.error };
    // The frame is stored without its attachments, so its sender gets the refusal.
    if (result.ok) this.#confirm(waiting, isOwnFault ? { ok: false, error: refusal } : result);
    return result;
  }

  #giveUp(error: ApertureError): void {
    this.#fault = error;
    for (const waiting of this.#unconfirmed.values()) waiting.settle({ ok: false, error });
    this.#unconfirmed.clear();
  }
}
