/**
 * Every operating error Aperture can report, in one place. The code is the anchor of its documentation
 * (docs/reference/errors.md); a test keeps the two complete.
 */
export type ApertureError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
};

export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

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
  AP_IDS_INVALID: "Ids {from} to {to} cannot be reserved: from {next} on all are free.",
  AP_BLOCK_UNKNOWN: "There is no block #{block} in this view.",
  AP_BLOCKS_UNKNOWN: "There is no {blocks} in this view; {nearest}.",
  AP_MESSAGES_UNKNOWN: "There is no {messages} in this view; {known}.",
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
  AP_SESSION_IDENTIFIED: "Session {session} has been identified already, and that is said once.",
  AP_EXCHANGE_INVALID: "Exchange {exchange} cannot be recorded: {problem}.",
  AP_SESSION_UNKNOWN: "There is no session {session}.",
  AP_SESSION_BUSY: "Session {session} is being answered right now: it can be deleted when that is over.",
  AP_REQUEST_UNKNOWN: "Nothing is known of request {request}, so what its answer asks for cannot be done.",
  AP_EXCHANGE_UNKNOWN: "There is no request {exchange} in this session.",
  AP_REPLAY_IMPOSSIBLE: "Request {exchange} cannot be replayed: {problem}.",
  AP_STEP_INVALID: "Step {step} is not valid here: {problem}.",
  AP_CHANGE_LOCKED: "#{block} keeps its {fact}: {by} set it, and {actor} may not change that.",
  AP_CHANGE_PINNED: "#{block} is pinned; unpin it first.",
  AP_CHANGE_REASON: "Archiving needs a reason.",
  AP_CHANGE_WITHHOLD: "Only the user may withhold content or release it.",
  AP_COMMAND_INVALID: "This command cannot be used: {problem}.",
  AP_COMMAND_REFUSED: "{verb} of {what} is not allowed: {why}.",
  AP_COMMAND_LIMIT: "{verb} of {what} was not done: {problem}.",
  AP_TOPIC_UNKNOWN: "Nothing in this view is about {topic}; use other words, or ids such as block-12.",
  AP_TOPIC_AMBIGUOUS: "{topic} may mean {readings}; name the blocks that are meant, or use more words.",
  AP_CHANGE_USER: "Only the user may {what}.",
  AP_APPROVAL_INVALID: "Approval {approval} cannot be recorded: {problem}.",
  AP_APPROVAL_UNKNOWN: "There is no approval {approval} in this view.",
  AP_APPROVAL_DECIDED: "Approval {approval} is {stand} already.",
  AP_RULE_STALE: "The {what} does not start from the present value.",
  AP_UNDO_LOCKED: "Step {step} stands as {by} wanted it, and {actor} may not reverse that.",
  AP_UNDO_CONFLICT: "Step {step} cannot be reversed: frame {seq} has changed {what} since.",
  AP_UNDO_IRREVERSIBLE: "Step {step} contains {type}, which cannot be reversed.",
  AP_UNDO_NOTHING: "There is nothing to {verb} for step {step}.",
  AP_UNDO_EMPTY: "There is nothing to {verb} in this session.",
  AP_STEP_UNKNOWN: "There is no step {step} in this session.",
  AP_WITHHELD_UNREADABLE:
    "This request could not be read, and content of its session is withheld; it was not sent.",
  AP_EDIT_REFUSED:
    "The model API refused a request that Aperture had rendered and took it as its client wrote it; that session passes as it comes until you set its mode.",
  AP_RAW_FULL:
    "The client's own history takes about {raw} of {window} tokens; `aperture leave` writes one that fits.",
  AP_SUMMARY_REFUSED: "A summary of #{block} was refused: {reasons}.",
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
  AP_ENGINE_DOWN: "The engine is not running ({problem}); requests are relayed, but not recorded.",
  AP_MEMORY_LOW: "Memory runs out ({percent} % of it is used); {what} until there is room again.",
  AP_BACKUP_EXISTS: "The file {path} exists already; a backup never overwrites.",
  AP_ROUTE_UNKNOWN: "There is nothing at {path}; the reference of the API lists what there is.",
  AP_METHOD_INVALID: "{method} is not understood here; use {allowed}.",
  AP_QUERY_INVALID: "The query cannot be used: {problem}.",
  AP_PERMISSIONS_FILE: "The file permissions.json in the data directory cannot be used: {problem}.",
  AP_INPUT_INVALID: "What was sent along cannot be used: {problem}.",
  AP_AUTH_REQUIRED: "This needs the token of this Aperture, or a browser that was logged in with it.",
  AP_WRITE_REFUSED: "This write could come from another web page and was not done: {problem}.",
  AP_LOGIN_INVALID: "This login link was used already or is too old; ask for a new one.",
  AP_LOGIN_BUSY: "Too many logins failed just now; wait a minute and use a new link.",
  AP_VIEWERS_FULL: "{viewers} viewers are watching already; close one of them.",
  AP_WORK_BUSY: "{waiting} such questions wait for their answers already; ask again when one has come.",
  AP_WORK_TOO_LARGE: "To answer this takes {problem}, so it was given up; requests are relayed as before.",
  AP_CONTROL_FAULT:
    "Aperture could not answer because of a mistake of its own; requests are relayed as before.",
  AP_HOST_UNKNOWN:
    "This server does not answer under that name. Use {known}, or add the name to APERTURE_ALLOWED_HOSTS.",
  AP_PAGE_REFUSED: "Requests from web pages of other origins are refused ({header}).",
  AP_METHOD_REFUSED: "The method {method} is not relayed.",
  AP_REQUEST_MALFORMED: "This request cannot be relayed safely: {problem}.",
  AP_TARGET_INVALID: "The address of this request cannot be relayed: {problem}.",
  AP_UPSTREAM_UNCLEAR: "There is no route for this path. Choose an upstream by prefix: {choices}.",
  AP_UPSTREAM_UNKNOWN: "There is no upstream of that name. Known after /u/: {choices}.",
  AP_TYPE_REFUSED: "A body here must be JSON: send content-type application/json.",
  AP_TOKEN_REFUSED: "This server listens beyond loopback: send its token in the header x-aperture-token.",
  AP_KEY_MISPLACED:
    "This key belongs to {owner}, and the request was about to go to {host}. Choose the upstream by prefix.",
  AP_UPGRADE_REFUSED: "Connections are not upgraded here; send the request over plain HTTP.",
  AP_BODY_TOO_LARGE: "The body is larger than {limit} bytes.",
  AP_UPSTREAM_CONNECT:
    "No connection to {host} ({reason}). Check the network and the address of the upstream {upstream}.",
  AP_UPSTREAM_DNS:
    "The name {host} could not be resolved ({reason}). Check the network and the address of the upstream {upstream}.",
  AP_UPSTREAM_TLS: "The secure connection to {host} failed ({reason}). Check the certificate and the clock.",
  AP_UPSTREAM_RESET: "{host} closed the connection before it answered ({reason}). Send the request again.",
  AP_UPSTREAM_PROTOCOL:
    "{host} sent something that is not a valid HTTP answer ({reason}). Check the address of the upstream {upstream}.",
  AP_UPSTREAM_SLOW:
    "{host} did not accept a connection within {seconds} s. Check the network, or try again later.",
  AP_UPSTREAM_SILENT: "{host} sent nothing for {seconds} s, so the request was given up.",
  AP_PROVIDER_MISSING: "The provider {provider} needs what is not installed: run `npm install {packages}`.",
  AP_PROVIDER_SETUP: "The provider {provider} could not be asked: {problem}.",
  AP_PROVIDER_UNSUPPORTED: "The provider {provider} cannot be sent {what}.",
  AP_PROVIDER_REFUSED: "The provider {provider} refused the prompt with status {status}: {problem}.",
  AP_PROVIDER_UNREACHABLE: "There is no answer from the provider {provider} ({problem}).",
  AP_PROVIDER_BROKEN: "The answer of the provider {provider} broke off ({problem}).",
  AP_PROVIDER_CANCELLED: "The question to the provider {provider} was cancelled.",
  AP_PROVIDER_LATE: "The provider {provider} said nothing for {ms} ms, and is not waited for any longer.",
  AP_RUNTIME_BUDGET:
    "The prompt would take {tokens} tokens and may take {budget}: shortened as far as it goes, the run does not fit.",
  AP_RUNTIME_ROUNDS: "{agent} called tools in {rounds} rounds of one run and was stopped.",
  AP_RUNTIME_FAULT: "Something that must not happen did: {problem}.",
  AP_AGENT_UNKNOWN: "There is no agent {agent} in this space; there are: {known}.",
  AP_AGENT_EXISTS: "There is an agent {agent} in this space already.",
  AP_FORK_EXISTS: "There is a stream {stream} already, and it was not forked from {parent}.",
  AP_TOOL_INVALID: "The tool {tool} cannot be offered: {problem}.",
  AP_SPACE_CLOSED: "This space is closed.",
  AP_SPACE_BUSY: "So much is written to this space that this could not be done now: try it again.",
} as const;

export type ErrorCode = keyof typeof errorRegistry;
export const errorCodes = Object.keys(errorRegistry) as readonly ErrorCode[];

/** Makes the error with that code and fills its message from the details. */
export function apertureError(code: ErrorCode, details: ErrorDetails = {}): ApertureError {
  const message = errorRegistry[code].replace(/\{(\w+)\}/g, (_, name: string) =>
    String(details[name] ?? "?"),
  );
  return { code, message, details };
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(errorRegistry, value);
}
