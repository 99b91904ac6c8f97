/**
 * Every operating error Aperture can report, in one place. The code is the anchor of its documentation
 * (docs/reference/errors.md); a test keeps the two complete.
 */
export type ApertureError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Details;
};

export type Details = Readonly<Record<string, string | number | boolean | null>>;

/** `{name}` in a template is filled from the details. */
export const errorRegistry = {
  AP_FRAME_ORDER: "Frame {seq} cannot follow frame {head}: frames are numbered without gaps.",
  AP_FRAME_CHAIN: "Frame {seq} does not continue the hash chain of its session.",
  AP_FRAME_HASH: "Frame {seq} does not have the hash it claims.",
  AP_FRAME_SHAPE: "This is not a frame: {problem}.",
  AP_FRAME_LIMIT: "Frame {seq} breaks the limit {limit} ({actual}).",
  AP_FRAME_SESSION: "Frame {seq} belongs to another session.",
  AP_SEQ_UNKNOWN: "There is no seq {seq}; the session is at {head}.",
  AP_STREAM_UNKNOWN: "There is no stream {stream}.",
  AP_STREAM_EXISTS: "Stream {stream} is open already.",
  AP_VIEW_UNKNOWN: "There is no view {view}.",
  AP_VIEW_EXISTS: "View {view} is open already.",
  AP_FORK_INVALID: "Cannot fork from {parent} at seq {seq}: {problem}.",
  AP_IDS_INVALID: "Ids {from} to {to} cannot be reserved: the next free one is {next}.",
  AP_BLOCK_UNKNOWN: "There is no block #{block} in this view.",
  AP_BLOCK_EXISTS: "Block #{block} exists already, and an id is never used twice.",
  AP_BLOCK_ID: "Block #{block} or message {message} was not reserved for stream {stream}.",
  AP_BLOCK_INVALID: "Block #{block} cannot be added: {problem}.",
  AP_BLOCK_PURGED: "Block #{block} was purged; its content is gone for good.",
  AP_DELTA_STALE: "The {type} of #{block} does not start from the present value.",
  AP_TOKENS_FROZEN: "The tokens of #{block} were counted once and stay as they are.",
  AP_RUN_INVALID: "Run {run} cannot start in stream {stream}: the next one is {next}.",
  AP_UNIT_INVALID: "Unit {unit} cannot be sent: {problem}.",
  AP_TURN_INVALID: "Turn {turn} is not valid in stream {stream}: {problem}.",
  AP_EPOCH_INVALID: "Epoch {epoch} cannot start in view {view}: {problem}.",
  AP_STEP_INVALID: "Step {step} is not valid here: {problem}.",
  AP_CHANGE_LOCKED: "#{block} keeps its {fact}: {by} set it, and {actor} may not change that.",
  AP_CHANGE_PINNED: "#{block} is pinned; unpin it first.",
  AP_CHANGE_REASON: "Archiving needs a reason.",
  AP_CHANGE_WITHHOLD: "Only the user may withhold content or release it.",
  AP_UNDO_LOCKED: "Step {step} stands as {by} wanted it, and {actor} may not reverse that.",
  AP_UNDO_CONFLICT: "Step {step} cannot be reversed: frame {seq} has changed {what} since.",
  AP_UNDO_IRREVERSIBLE: "Step {step} contains {type}, which cannot be reversed.",
  AP_UNDO_NOTHING: "There is nothing to {verb} for step {step}.",
  AP_STORE_LOCKED: "The database is locked by another process; what was accepted waits and will be written.",
  AP_STORE_FULL: "The disk is full; recording is paused and resumes by itself.",
  AP_STORE_READONLY: "The data directory cannot be written: {path}.",
  AP_STORE_CORRUPT: "The database is damaged: {problem}.",
  AP_STORE_FOREIGN: "The file {path} is not an Aperture database.",
  AP_STORE_NEWER: "The database has format {found}; this version knows up to {known}. Nothing was changed.",
  AP_STORE_MIGRATION: "The database could not be brought to format {format}: {problem}. Nothing was changed.",
  AP_STORE_OLDER_NODE: "No SQLite driver could be loaded: {problem}.",
  AP_STORE_IO: "The database reported an error: {problem}.",
  AP_STORE_QUEUE_FULL:
    "Too much waits to be written ({frames} frames, {bytes} bytes); this was not accepted.",
  AP_STORE_CLOSED: "The store is closed.",
  AP_STORE_GAP: "Session {session} has no frame {expected}, so frame {seq} cannot be stored.",
  AP_STORE_DIVERGED: "Session {session} already has another frame {seq}.",
  AP_BATCH_INVALID: "This batch cannot be stored: {problem}.",
  AP_CONTENT_UNKNOWN: "There is no content {hash}.",
  AP_CONTENT_PURGED: "Content {hash} was purged by the user.",
  AP_CONTENT_DAMAGED: "Content {hash} does not match its hash.",
  AP_CONTENT_TOO_LARGE: "Content of {bytes} bytes is larger than the limit of {limit}.",
  AP_BODY_UNKNOWN: "Exchange {exchange} of session {session} has no {side} body.",
  AP_BODY_EXISTS: "Exchange {exchange} of session {session} has another {side} body already.",
  AP_BODY_DAMAGED: "The {side} body of exchange {exchange} does not match its hash.",
  AP_RECIPE_INVALID: "This recipe cannot be stored: {problem}.",
  AP_SNAPSHOT_DAMAGED: "The snapshot at seq {seq} is damaged; the frames will be replayed instead.",
  AP_BACKUP_EXISTS: "The file {path} exists already; a backup never overwrites.",
} as const;

export type ErrorCode = keyof typeof errorRegistry;
export const errorCodes = Object.keys(errorRegistry) as readonly ErrorCode[];

/** Makes the error of that code, its message filled from the details. */
export function apertureError(code: ErrorCode, details: Details = {}): ApertureError {
  const message = errorRegistry[code].replace(/\{(\w+)\}/g, (_, name: string) =>
    String(details[name] ?? "?"),
  );
  return { code, message, details };
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(errorRegistry, value);
}
