import type { Result } from "../base/index.ts";
import type { SentBodies } from "../queries/answers/index.ts";

/** The answer of the built-in strict model to a request that was sent to a real one. */
export type StrictVerdict =
  | {
      readonly accepted: true;
      readonly status: number;
      /** Its own token counts; null for a request that only asked for a count. */
      readonly prompt: {
        readonly tokens: number;
        readonly cacheRead: number;
        readonly cacheWrite: number;
      } | null;
    }
  | {
      readonly accepted: false;
      readonly status: number;
      /** The error type, such as `invalid_request_error`. */
      readonly type: string;
      /** The exact error message. */
      readonly message: string;
    };

export type ReplayResult = {
  readonly verdict: StrictVerdict;
  /** The earlier request that was replayed first to fill the cache; null if there was none. */
  readonly behind: { readonly exchange: number; readonly accepted: boolean } | null;
};

export type ReplayAnswer = ReplayResult & {
  readonly session: string;
  readonly seq: number;
  readonly exchange: number;
};

/** Replays bodies in memory: it sends nothing and needs no key. */
export type Replay = (bodies: Pick<SentBodies, "sent" | "before">) => Promise<Result<ReplayResult>>;
