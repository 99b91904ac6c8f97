import type { Result } from "../base/index.ts";
import type { SentBodies } from "../session/index.ts";

/** What the strict model inside Aperture says to a request that was sent to a real one. */
export type Verdict =
  | {
      readonly accepted: true;
      readonly status: number;
      /** As it counts; null for a request that was only to be counted. */
      readonly prompt: {
        readonly tokens: number;
        readonly cacheRead: number;
        readonly cacheWrite: number;
      } | null;
    }
  | {
      readonly accepted: false;
      readonly status: number;
      /** `invalid_request_error` and the like. */
      readonly type: string;
      /** Its words, to the letter. */
      readonly message: string;
    };

export type Replayed = {
  readonly verdict: Verdict;
  /** What went ahead of it and filled the cache; null: nothing did, so nothing could come from it. */
  readonly behind: { readonly exchange: number; readonly accepted: boolean } | null;
};

export type ReplayAnswer = Replayed & {
  readonly session: string;
  readonly seq: number;
  readonly exchange: number;
};

/** Sends nothing anywhere and needs no key. */
export type Replay = (bodies: Pick<SentBodies, "sent" | "before">) => Promise<Result<Replayed>>;
