import type { Result, SessionId, StepId } from "../../base/index.ts";
import type { Change, Level, Mode, Proposal, State } from "../../engine/index.ts";
import type { BackupReport, DropReport, GcReport, Side, Store, VerifyReport } from "../../store/index.ts";
import type { KeptPermissions } from "../command/kept-permissions.ts";
import type { WrittenCommand } from "../command/user-own.ts";
import type { CommandResult, CommandsAsked, RememberedStream } from "../desk-port.ts";
import type { RequestDiff } from "../diff/rows.ts";
import type { Imported } from "../imported/imported.ts";
import type { Durable } from "../record/durable.ts";
import type { LiveSession } from "../record/live-session.ts";
import type { SessionLog } from "../session-log.ts";
import type { ReverseAnswer, ReverseVerb, StepsPage } from "./act-rows.ts";
import type {
  ApprovalsPage,
  CommandAnswer,
  DecideAnswer,
  DecisionScope,
  ModeAnswer,
  PermissionRow,
  PermissionsAnswer,
} from "./command-rows.ts";
import type {
  BlockDetail,
  BodyAnswer,
  DeletedAnswer,
  FramesPage,
  LabelsAnswer,
  NamedAnswer,
  PreviewsAnswer,
  RequestDetail,
  RequestsPage,
  SentBodies,
  SessionDetail,
  SessionsPage,
  StateRow,
} from "./rows.ts";
import type {
  ExpansionAnswer,
  ManifestAnswer,
  ManifestDetail,
  SelectAnswer,
  SelectionAnswer,
} from "./told-rows.ts";
import type { TranscriptAnswer } from "./transcript-rows.ts";

/**
 * What may be asked of whoever has the sessions: to look at something, or to do something. Plain data: it may
 * come from another thread.
 */
export type Question = Look | Act;

/** Changes nothing, whatever it is asked. */
export type Look =
  | { readonly type: "sessions"; readonly limit: number; readonly before?: string }
  | { readonly type: "session"; readonly session: string }
  | StateQuestion
  | BlockQuestion
  | { readonly type: "previews"; readonly session: string; readonly block: number }
  | { readonly type: "transcript"; readonly session: string; readonly at?: number; readonly stream?: number }
  | { readonly type: "labels"; readonly session: string; readonly blocks: readonly number[] }
  | { readonly type: "requests"; readonly session: string; readonly after: number; readonly limit: number }
  | { readonly type: "request"; readonly session: string; readonly exchange: number }
  | DiffQuestion
  | { readonly type: "body"; readonly session: string; readonly exchange: number; readonly side: Side }
  | { readonly type: "sent-bodies"; readonly session: string; readonly exchange: number }
  | { readonly type: "frames"; readonly session: string; readonly after: number; readonly limit: number }
  | { readonly type: "steps"; readonly session: string; readonly limit: number; readonly below?: number }
  | { readonly type: "selection"; readonly session: string; readonly stream?: number }
  | ManifestQuestion
  | ExpansionQuestion
  | { readonly type: "approvals"; readonly session: string; readonly stream?: number; readonly all?: boolean }
  | { readonly type: "mode"; readonly session: string }
  | { readonly type: "permissions" }
  | LedgerQuestion;

/** As of a seq, or now. Without `rows` it has all of them; else so many, from that one on. */
export type StateQuestion = {
  readonly type: "state";
  readonly session: string;
  readonly at?: number;
  readonly stream?: number;
  /** Rows that are left out at the beginning. */
  readonly from?: number;
  readonly rows?: number;
};

/** What went upstream against what the client sent, or against what an earlier request sent upstream. */
export type DiffQuestion = {
  readonly type: "diff";
  readonly session: string;
  readonly exchange: number;
  /** Null: what the client sent. */
  readonly with: number | "previous" | null;
};

/** What a user or a model does: it appends to the log, and the model is told. */
export type Act =
  | SelectAct
  | ReverseAct
  | CommandAct
  | CommandQuestion
  | DecideAct
  | SetModeAct
  | RenameAct
  | DeleteAct
  | PermitAct
  | Upkeep;

/** What is done with all that is stored: checked, freed of what nothing points to, copied to a new file. */
export type Upkeep =
  | { readonly type: "verify"; readonly scope: "tail" | "all" }
  | { readonly type: "gc" }
  | { readonly type: "backup"; readonly path: string }
  /** A session from a transcript, as JSON: `gathered`, and `secrets` that must not be written down. */
  | { readonly type: "import"; readonly bytes: Uint8Array };

/** What the user wants done to the context; in a dry run, only what it would come to. */
export type CommandQuestion = {
  readonly type: "act";
  readonly session: string;
  readonly stream?: number;
  readonly command: WrittenCommand;
  readonly dryRun: boolean;
  /** Now: with the next request, whatever it costs. Without it, when it costs least. */
  readonly when?: CommandWhen;
};

export const commandWhens = ["now", "cache-break"] as const;
export type CommandWhen = (typeof commandWhens)[number];

/** The user says yes or no to what waits. Done twice it is refused. */
export type DecideAct = {
  readonly type: "decide";
  readonly session: string;
  /** Which one, or all that wait. */
  readonly approval: number | "all";
  readonly to: "approved" | "denied";
  /** The model reads it where it was denied. */
  readonly reason: string;
  readonly scope: DecisionScope;
};

/** How much is done without asking in a session; null: as it is configured. Done twice it is the same. */
export type SetModeAct = {
  readonly type: "set-mode";
  readonly session: string;
  readonly mode: Mode | null;
};

/** What the user calls a session; null: by its first prompt. Done twice it is the same. */
export type RenameAct = { readonly type: "rename"; readonly session: string; readonly name: string | null };

/** Erases all that is stored of a session. `confirm` is its id, so that nothing is erased by a slip. */
export type DeleteAct = {
  readonly type: "delete-session";
  readonly session: string;
  readonly confirm: string;
};

/**
 * What the user says for always about a verb of the model; null: nothing any more. Done twice it is the same.
 */
export type PermitAct = Pick<PermissionRow, "verb" | "zone"> & {
  readonly type: "set-permission";
  readonly rule: PermissionRow["rule"] | null;
};

/** What the answer to a request asks of our tools. */
export type CommandAct = CommandsAsked & { readonly type: "command" };

/** Takes back a step, or takes it up again. Done twice it is refused, unless it does not say which step. */
export type ReverseAct = {
  readonly type: "reverse";
  readonly session: string;
  readonly verb: ReverseVerb;
  /** Without it, the last one that is done, or the one that was taken back last. */
  readonly step?: number;
  /** All that were done in the last turn with any, the newest first, as far as nothing stands in the way. */
  readonly isTurn?: true;
  /** All that stands otherwise than at this seq, the last change first, as far as nothing is in the way. */
  readonly to?: number;
};

/** The selection becomes exactly these blocks; none at all clears it. Done twice it is the same as once. */
export type SelectAct = {
  readonly type: "select";
  readonly session: string;
  readonly stream?: number;
  readonly blocks: readonly number[];
};

export type ManifestQuestion = {
  readonly type: "manifest";
  readonly session: string;
  readonly stream?: number;
  readonly detail: ManifestDetail;
};

export type ExpansionQuestion = {
  readonly type: "expansion";
  readonly session: string;
  readonly stream?: number;
  /** One block, or all blocks of these messages. */
  readonly from: { readonly block: number } | MessageRange;
};

/** Both ends belong to it. */
export type MessageRange = { readonly first: number; readonly last: number };

export type BlockQuestion = {
  readonly type: "block";
  readonly session: string;
  readonly block: number;
  /** The content is that of the stored rendition; without it, the original. */
  readonly level?: Level;
  readonly at?: number;
  /** As the view of this stream has it; without it, the block's own. */
  readonly stream?: number;
  /** Which bytes of the content. */
  readonly from?: number;
  readonly length?: number;
};

/** What the log knows of a stream that a ledger has forgotten. */
export type LedgerQuestion = {
  readonly type: "ledger";
  readonly owner: string;
  readonly upstream: string;
  readonly client: string;
  /** What the client calls its session; null: the talk has to tell. */
  readonly sessionKey: string | null;
  readonly credential: string;
  readonly agent: string | null;
  /** The keys of the client's talk. */
  readonly talk: readonly string[];
};

export type QuestionType = Question["type"];

/** What each question is answered with. */
export type Answers = {
  readonly sessions: SessionsPage;
  readonly session: SessionDetail;
  readonly state: StateRow;
  readonly block: BlockDetail;
  readonly requests: RequestsPage;
  readonly request: RequestDetail;
  readonly diff: RequestDiff;
  readonly body: BodyAnswer;
  readonly "sent-bodies": SentBodies;
  readonly frames: FramesPage;
  readonly steps: StepsPage;
  readonly reverse: ReverseAnswer & Durable;
  readonly select: SelectAnswer & Durable;
  readonly command: readonly CommandResult[];
  readonly selection: SelectionAnswer;
  readonly manifest: ManifestAnswer;
  readonly labels: LabelsAnswer;
  readonly transcript: TranscriptAnswer;
  readonly previews: PreviewsAnswer;
  readonly expansion: ExpansionAnswer;
  /** Null: there is no such stream. */
  readonly ledger: RememberedStream | null;
  readonly act: CommandAnswer & Durable;
  readonly approvals: ApprovalsPage;
  readonly decide: DecideAnswer & Durable;
  readonly mode: ModeAnswer;
  readonly "set-mode": ModeAnswer & Durable;
  readonly rename: NamedAnswer & Durable;
  readonly "delete-session": DeletedAnswer;
  readonly permissions: PermissionsAnswer;
  readonly "set-permission": PermissionsAnswer;
  readonly verify: VerifyReport;
  readonly gc: GcReport;
  readonly backup: BackupReport;
  readonly import: Imported;
};
export type AnswerOf<Q extends Question> = Answers[Q["type"]];

/** A way to have questions answered, whichever thread the sessions live in. */
export type Ask = <Q extends Question>(question: Q) => Promise<Result<AnswerOf<Q>>>;

/** The word that stands for the session with the newest frame. */
export const lastSession = "last";

/** Where sessions are found. */
export type Library = {
  readonly store: Store;
  /**
   * The live log of a session, or its log as stored. Of a session that does not exist it is empty, and
   * nothing of it should be kept.
   */
  readonly open: (session: SessionId) => Promise<Result<SessionLog>>;
  /** It was written to by somebody else: what is known of it is read again at its next use. */
  readonly forget?: (session: SessionId) => void;
  /** Erases a session for good; absent where nothing is ever erased. */
  readonly remove?: (session: SessionId) => Promise<Result<DropReport>>;
  /** How many tokens the window of a model holds; null: nobody knows. */
  readonly windowOf: (model: string | null) => number | null;
  /** As it is configured; auto where nothing is said. */
  readonly mode?: Mode;
  /** Tells what is withheld in a session now, to whoever cannot wait for the log. */
  readonly withhold?: (state: State) => Promise<void>;
  /** What the user has said for always; nothing where nothing is said. */
  readonly permissions?: KeptPermissions;
  readonly ledger: (question: LedgerQuestion) => Promise<Result<RememberedStream | null>>;
  /** Carries out what the answer to a request asks of our tools. */
  readonly command: (asked: CommandsAsked) => Promise<Result<readonly CommandResult[]>>;
  /** Does something in a live session, in its turn among what is recorded, and tells whoever has to know. */
  readonly within: <T extends object>(
    session: SessionId,
    work: (live: LiveSession) => Result<T> | Promise<Result<T>>,
  ) => Promise<Result<T & Durable>>;
  /** Carries out what a user does in the stream of that name, and tells whoever has to know. */
  readonly act: (
    session: SessionId,
    stream: string,
    propose: (change: Change) => Proposal,
  ) => Promise<Result<Proposal & Durable>>;
  /** The user takes back a step, or takes it up again. */
  readonly reverse: (session: SessionId, verb: ReverseVerb, step: StepId) => Promise<Result<Durable>>;
};
