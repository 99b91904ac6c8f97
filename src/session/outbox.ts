import { type ApertureError, fail, limits, type Result } from "../base/index.ts";
import type { Frame } from "../engine/index.ts";
import type { Batch, Store } from "../store/index.ts";

/** What belongs to a frame and is written with it, or not at all. */
export type Attached = Pick<Batch, "contents" | "bodies">;

type Unconfirmed = {
  readonly frame: Frame;
  readonly attached: Attached;
  readonly settle: (result: Result<void>) => void;
  /** Why the store refused it, if it did. */
  refusal: ApertureError | null;
};

export type Sent = { readonly accepted: true; readonly durable: Promise<Result<void>> } | Refused;
type Refused = { readonly accepted: false; readonly error: ApertureError };

/**
 * Frames on their way to the store. One refused frame would leave a gap that refuses all after it, so refused
 * frames are sent again in order: as they were if only the gap was in the way, alone if the store did not
 * take what came with them. If that fails too, the log ends there: everything after is refused by the same
 * name, and the session must be opened again.
 */
export class Outbox {
  readonly #store: Store;
  readonly #unconfirmed = new Map<number, Unconfirmed>();
  #healing = false;
  #fault: ApertureError | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Why nothing more of this session can be recorded, or null. */
  get fault(): ApertureError | null {
    return this.#fault;
  }

  /** Whether the store has confirmed everything it was sent. */
  get isConfirmed(): boolean {
    return this.#unconfirmed.size === 0;
  }

  /** A frame the store has not confirmed yet: undo must work while the disk does not. */
  unconfirmed(seq: number): Frame | null {
    return this.#unconfirmed.get(seq)?.frame ?? null;
  }

  send(frame: Frame, attached: Attached): Sent {
    if (this.#fault !== null) return { accepted: false, error: this.#fault };
    const sent = this.#healing ? this.#hold() : this.#post(frame, attached);
    if (!sent.accepted) return sent;
    const durable = new Promise<Result<void>>((settle) => {
      this.#unconfirmed.set(frame.seq, { frame, attached, settle, refusal: null });
    });
    if (sent.result !== null) void sent.result.then((result) => this.#answered(frame.seq, result));
    return { accepted: true, durable };
  }

  /** While earlier frames are sent again, this one waits behind them. */
  #hold(): Refused | { readonly accepted: true; readonly result: null } {
    const frames = this.#unconfirmed.size;
    if (frames < limits.queueFramesMax) return { accepted: true, result: null };
    return { accepted: false, error: fail("AP_STORE_QUEUE_FULL", { frames, bytes: 0 }).error };
  }

  #post(frame: Frame, attached: Attached): Refused | { accepted: true; result: Promise<Result<void>> } {
    const appended = this.#store.append({ frames: [frame], ...attached });
    if (!appended.accepted) return { accepted: false, error: appended.refused.error };
    return { accepted: true, result: appended.durable };
  }

  #answered(seq: number, result: Result<void>): void {
    const waiting = this.#unconfirmed.get(seq);
    if (waiting === undefined) return;
    if (result.ok) this.#confirm(waiting, result);
    else {
      waiting.refusal = result.error;
      if (!this.#healing) void this.#heal();
    }
  }

  #confirm(waiting: Unconfirmed, result: Result<void>): void {
    this.#unconfirmed.delete(waiting.frame.seq);
    waiting.settle(result);
  }

  async #heal(): Promise<void> {
    this.#healing = true;
    await this.#store.flush();
    // Frames that come while this runs are added behind and reached by the same loop.
    for (const waiting of this.#unconfirmed.values()) {
      const result = await this.#sendAgain(waiting);
      if (!result.ok) {
        this.#giveUp(result.error);
        break;
      }
    }
    this.#healing = false;
  }

  async #sendAgain(waiting: Unconfirmed): Promise<Result<void>> {
    const { frame, attached, refusal } = waiting;
    const isOwnFault = refusal !== null && refusal.code !== "AP_STORE_GAP";
    const sent = this.#post(frame, isOwnFault ? {} : attached);
    const result: Result<void> = sent.accepted ? await sent.result : { ok: false, error: sent.error };
    // The frame is safe, but what came with it is not: that is what its sender must hear.
    if (result.ok) this.#confirm(waiting, isOwnFault ? { ok: false, error: refusal } : result);
    return result;
  }

  #giveUp(error: ApertureError): void {
    this.#fault = error;
    for (const waiting of this.#unconfirmed.values()) waiting.settle({ ok: false, error });
    this.#unconfirmed.clear();
  }
}
