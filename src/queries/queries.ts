import type { Result, SessionId } from "../base/index.ts";
import type { Level } from "../engine/frames/index.ts";
import type { SessionLog } from "../log/index.ts";
import type { ExchangeSide, Store } from "../store/index.ts";
import type { ManifestDetail } from "./answers/context-answers.ts";
import type {
  BlockDetail,
  BodyAnswer,
  ExpansionAnswer,
  FramesPage,
  LabelsAnswer,
  ManifestAnswer,
  PreviewsAnswer,
  RequestDetail,
  RequestDiff,
  RequestsPage,
  SelectionAnswer,
  SentBodies,
  SessionDetail,
  SessionsPage,
  StateRow,
  StepsPage,
  TranscriptAnswer,
} from "./answers/index.ts";

/** A question about sessions. Answering one never writes. */
export type Query =
  | { readonly type: "sessions"; readonly limit: number; readonly before?: string }
  | { readonly type: "session"; readonly session: string }
  | StateQuery
  | BlockQuery
  | { readonly type: "previews"; readonly session: string; readonly block: number }
  | { readonly type: "transcript"; readonly session: string; readonly at?: number; readonly stream?: number }
  | { readonly type: "labels"; readonly session: string; readonly blocks: readonly number[] }
  | { readonly type: "requests"; readonly session: string; readonly after: number; readonly limit: number }
  | { readonly type: "request"; readonly session: string; readonly exchange: number }
  | DiffQuery
  | {
      readonly type: "body";
      readonly session: string;
      readonly exchange: number;
      readonly side: ExchangeSide;
    }
  | { readonly type: "sent-bodies"; readonly session: string; readonly exchange: number }
  | { readonly type: "frames"; readonly session: string; readonly after: number; readonly limit: number }
  | { readonly type: "steps"; readonly session: string; readonly limit: number; readonly below?: number }
  | { readonly type: "selection"; readonly session: string; readonly stream?: number }
  | ManifestQuery
  | ExpansionQuery;

/** The type of the answer to each type of query. */
export type QueryAnswers = {
  readonly sessions: SessionsPage;
  readonly session: SessionDetail;
  readonly state: StateRow;
  readonly block: BlockDetail;
  readonly previews: PreviewsAnswer;
  readonly transcript: TranscriptAnswer;
  readonly labels: LabelsAnswer;
  readonly requests: RequestsPage;
  readonly request: RequestDetail;
  readonly diff: RequestDiff;
  readonly body: BodyAnswer;
  readonly "sent-bodies": SentBodies;
  readonly frames: FramesPage;
  readonly steps: StepsPage;
  readonly selection: SelectionAnswer;
  readonly manifest: ManifestAnswer;
  readonly expansion: ExpansionAnswer;
};

/** The state as of a seq, or now. `rows` limits the block rows; without it, all are returned. */
export type StateQuery = {
  readonly type: "state";
  readonly session: string;
  readonly at?: number;
  readonly stream?: number;
  /** Rows to skip at the beginning. */
  readonly from?: number;
  readonly rows?: number;
};

/** Compares the body sent upstream with the client's, or with the body of an earlier request. */
export type DiffQuery = {
  readonly type: "diff";
  readonly session: string;
  readonly exchange: number;
  /** Null compares with the client's body. */
  readonly with: number | "previous" | null;
};

export type ManifestQuery = {
  readonly type: "manifest";
  readonly session: string;
  readonly stream?: number;
  readonly detail: ManifestDetail;
};

export type ExpansionQuery = {
  readonly type: "expansion";
  readonly session: string;
  readonly stream?: number;
  /** One block, or all blocks of these messages. */
  readonly from: { readonly block: number } | MessageRange;
};

/** Both ends are included. */
export type MessageRange = { readonly first: number; readonly last: number };

export type BlockQuery = {
  readonly type: "block";
  readonly session: string;
  readonly block: number;
  /** Returns the content of the stored rendition; without it, the original. */
  readonly level?: Level;
  readonly at?: number;
  /** Reads the block in the view of this stream; without it, in its own stream. */
  readonly stream?: number;
  /** The first byte of the content to return. */
  readonly from?: number;
  readonly length?: number;
};

/** Names the session with the newest frame. */
export const lastSession = "last";

export type QueryDeps = {
  readonly store: Store;
  /**
   * Returns the live log of a session, or its stored log. A session that does not exist has an empty log,
   * which callers must not keep.
   */
  readonly openLog: (session: SessionId) => Promise<Result<SessionLog>>;
  /** Returns the window of a model in tokens; null if it is not known. */
  readonly windowOf: (model: string | null) => number | null;
};
