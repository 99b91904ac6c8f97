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
  AP_FRAME_HASH: "The content of frame {seq} does not match its hash.",
  AP_FRAME_SHAPE: "This is not a frame: {problem}.",
  AP_FRAME_LIMIT: "Frame {seq} exceeds the limit {limit} (actual: {actual}).",
  AP_FRAME_SESSION: "Frame {seq} belongs to another session.",
  AP_SEQ_UNKNOWN: "There is no seq {seq}; the session is at {head}.",
  AP_STREAM_UNKNOWN: "There is no stream {stream}.",
  AP_STREAM_EXISTS: "Stream {stream} is already open.",
  AP_VIEW_UNKNOWN: "There is no view {view}.",
  AP_VIEW_EXISTS: "View {view} is already open.",
  AP_FORK_INVALID: "Cannot fork from {parent} at seq {seq}: {problem}.",
  AP_IDS_INVALID: "Ids {from} to {to} cannot be reserved: the first free id is {next}.",
  AP_BLOCK_UNKNOWN: "There is no block #{block} in this view.",
  AP_BLOCKS_UNKNOWN: "There is no {blocks} in this view; {nearest}.",
  AP_MESSAGES_UNKNOWN: "There is no {messages} in this view; {known}.",
  AP_BLOCK_EXISTS: "Block #{block} already exists; ids are never reused.",
  AP_BLOCK_ID: "Block #{block} or message {message} was not reserved for stream {stream}.",
  AP_BLOCK_INVALID: "Block #{block} cannot be added: {problem}.",
  AP_BLOCK_PURGED: "Block #{block} was purged: its content is erased permanently.",
  AP_DELTA_STALE: "The {type} of #{block} does not start from the current value.",
  AP_TOKENS_FROZEN: "The token count of #{block} is final and cannot be changed.",
  AP_RUN_INVALID: "Run {run} cannot start in stream {stream}: the next run is {next}.",
  AP_UNIT_INVALID: "Unit {unit} cannot be sent: {problem}.",
  AP_TURN_INVALID: "Turn {turn} is not valid in stream {stream}: {problem}.",
  AP_EPOCH_INVALID: "Epoch {epoch} cannot start in view {view}: {problem}.",
  AP_SESSION_IDENTIFIED: "Session {session} is already identified; its identity cannot change.",
  AP_EXCHANGE_INVALID: "Exchange {exchange} cannot be recorded: {problem}.",
  AP_SESSION_UNKNOWN: "There is no session {session}.",
  AP_SESSION_BUSY:
    "Session {session} has a request in progress. Wait for its answer, then delete the session.",
  AP_REQUEST_UNKNOWN: "Request {request} is not on record, so the commands in its answer cannot be executed.",
  AP_EXCHANGE_UNKNOWN: "There is no request {exchange} in this session.",
  AP_REPLAY_IMPOSSIBLE: "Request {exchange} cannot be replayed: {problem}.",
  AP_STEP_INVALID: "Step {step} is not valid here: {problem}.",
  AP_CHANGE_LOCKED: "#{block} keeps its {fact}: {by} set it, and {actor} may not change that.",
  AP_CHANGE_PINNED: "#{block} is pinned; unpin it first.",
  AP_CHANGE_REASON: "Archiving needs a reason.",
  AP_CHANGE_WITHHOLD: "Only the user may withhold content or release it.",
  AP_COMMAND_INVALID: "Invalid command: {problem}.",
  AP_COMMAND_REFUSED: "{verb} of {what} is not allowed: {why}.",
  AP_COMMAND_LIMIT: "{verb} of {what} was not done: {problem}.",
  AP_TOPIC_UNKNOWN: "Nothing in this view is about {topic}; use other words, or ids such as block-12.",
  AP_TOPIC_AMBIGUOUS: "{topic} may mean {readings}; name the blocks that are meant, or use more words.",
  AP_CHANGE_USER: "Only the user may {what}.",
  AP_APPROVAL_INVALID: "Approval {approval} cannot be recorded: {problem}.",
  AP_APPROVAL_UNKNOWN: "There is no approval {approval}. `aperture approvals --all` lists them.",
  AP_APPROVAL_DECIDED: "Approval {approval} was already decided: {stand}.",
  AP_RULE_STALE: "The {what} was changed in the meantime. Read it again and repeat the change.",
  AP_UNDO_LOCKED: "Step {step} was last changed by {by}, and {actor} may not reverse that.",
  AP_UNDO_CONFLICT: "Step {step} cannot be reversed: frame {seq} has changed {what} since.",
  AP_UNDO_IRREVERSIBLE: "Step {step} contains {type}, which cannot be reversed.",
  AP_UNDO_NOTHING: "There is nothing to {verb} for step {step}.",
  AP_UNDO_EMPTY: "There is nothing to {verb} in this session.",
  AP_STEP_UNKNOWN: "There is no step {step} in this session.",
  AP_WITHHELD_UNREADABLE:
    "This request was not sent: its session has withheld content, and Aperture could not read the body to check for it.",
  AP_EDIT_REFUSED:
    "The API rejected Aperture's version of a request and accepted the client's. This session now passes through unchanged; `aperture mode auto` resumes.",
  AP_RAW_FULL:
    "The client's own history takes about {raw} of {window} tokens; `aperture leave` writes one that fits.",
  AP_SUMMARY_REFUSED: "A summary of #{block} was refused: {reasons}.",
  AP_STORE_LOCKED: "The database is locked by another process; accepted data waits and will be written.",
  AP_STORE_FULL: "The disk is full: recording is paused. Free some space; recording resumes automatically.",
  AP_STORE_READONLY: "The data directory cannot be written: {path}.",
  AP_STORE_CORRUPT: "The database is damaged: {problem}.",
  AP_STORE_FOREIGN: "The file {path} is not an Aperture database.",
  AP_STORE_NEWER:
    "The database has format {found}; this version supports formats up to {known}. Nothing was changed.",
  AP_STORE_MIGRATION:
    "The database could not be migrated to format {format}: {problem}. Nothing was changed.",
  AP_STORE_OLDER_NODE: "No SQLite driver could be loaded: {problem}.",
  AP_STORE_IO: "The database reported an error: {problem}.",
  AP_STORE_QUEUE_FULL:
    "The write queue is full ({frames} frames, {bytes} bytes); this write was not accepted.",
  AP_STORE_CLOSED: "The store is closed.",
  AP_STORE_GAP: "Session {session} has no frame {expected}, so frame {seq} cannot be stored.",
  AP_STORE_DIVERGED: "Session {session} already has a different frame {seq}.",
  AP_BATCH_INVALID: "This batch cannot be stored: {problem}.",
  AP_CONTENT_UNKNOWN: "There is no content {hash}.",
  AP_CONTENT_PURGED: "Content {hash} was purged by the user.",
  AP_CONTENT_DAMAGED: "Content {hash} does not match its hash.",
  AP_CONTENT_TOO_LARGE: "Content of {bytes} bytes is larger than the limit of {limit}.",
  AP_BODY_UNKNOWN: "Exchange {exchange} of session {session} has no {side} body.",
  AP_BODY_EXISTS: "Exchange {exchange} of session {session} already has a different {side} body.",
  AP_BODY_DAMAGED: "The {side} body of exchange {exchange} does not match its hash.",
  AP_RECIPE_INVALID: "This recipe cannot be stored: {problem}.",
  AP_SNAPSHOT_DAMAGED: "The snapshot at seq {seq} is damaged; the frames are replayed instead.",
  AP_ENGINE_DOWN: "The engine is not running ({problem}); requests are relayed but not recorded.",
  AP_MEMORY_LOW: "Memory is low ({percent} % used): {what} until memory is free again.",
  AP_BACKUP_EXISTS: "The file {path} already exists; a backup never overwrites a file.",
  AP_ROUTE_UNKNOWN: "There is no route {path}. The API reference lists all routes.",
  AP_METHOD_INVALID: "{method} is not supported here; use {allowed}.",
  AP_QUERY_INVALID: "Invalid query: {problem}.",
  AP_PERMISSIONS_FILE: "The file permissions.json in the data directory is invalid: {problem}.",
  AP_INPUT_INVALID: "Invalid request body: {problem}.",
  AP_AUTH_REQUIRED: "Not authorized: send the token of this Aperture, or log in with `aperture open`.",
  AP_WRITE_REFUSED: "This write was refused because it could come from another web page: {problem}.",
  AP_LOGIN_INVALID: "This login link was already used or has expired. Run `aperture open` for a new one.",
  AP_LOGIN_BUSY: "Too many failed logins. Wait a minute, then use a new link.",
  AP_VIEWERS_FULL: "Too many viewers ({viewers}). Close one of them.",
  AP_WORK_BUSY: "{waiting} replays or exports are already waiting. Try again when one has finished.",
  AP_WORK_TOO_LARGE: "This was stopped because it needs {problem}. Requests are relayed as before.",
  AP_CONTROL_FAULT: "Internal error: Aperture could not answer. Requests are relayed as before.",
  AP_HOST_UNKNOWN:
    "This server does not answer to that host name. Use {known}, or add the name to APERTURE_ALLOWED_HOSTS.",
  AP_PAGE_REFUSED: "Requests from web pages of other origins are refused ({header}).",
  AP_METHOD_REFUSED: "The method {method} is not relayed.",
  AP_REQUEST_MALFORMED: "This request cannot be relayed safely: {problem}.",
  AP_TARGET_INVALID: "The address of this request cannot be relayed: {problem}.",
  AP_UPSTREAM_UNCLEAR: "No upstream matches this path. Add a prefix to the base URL: {choices}.",
  AP_UPSTREAM_UNKNOWN: "There is no upstream with this name. Known names after /u/: {choices}.",
  AP_TYPE_REFUSED: "The body must be JSON: send content-type application/json.",
  AP_TOKEN_REFUSED:
    "This server is reachable from other machines: send its token in the header x-aperture-token.",
  AP_KEY_MISPLACED:
    "This key belongs to {owner}, but the request was going to {host}. It was not sent. Choose the upstream with a prefix.",
  AP_UPGRADE_REFUSED: "WebSocket and other upgrades are not supported; send the request over plain HTTP.",
  AP_BODY_TOO_LARGE: "The body is larger than {limit} bytes.",
  AP_UPSTREAM_CONNECT:
    "Cannot connect to {host} ({reason}). Check the network and the address of the upstream {upstream}.",
  AP_UPSTREAM_DNS:
    "Cannot resolve {host} ({reason}). Check the network and the address of the upstream {upstream}.",
  AP_UPSTREAM_TLS: "The TLS connection to {host} failed ({reason}). Check the certificate and the clock.",
  AP_UPSTREAM_RESET: "{host} closed the connection before it answered ({reason}). Send the request again.",
  AP_UPSTREAM_PROTOCOL:
    "{host} did not send a valid HTTP answer ({reason}). Check the address of the upstream {upstream}.",
  AP_UPSTREAM_SLOW:
    "{host} did not accept a connection within {seconds} s. Check the network, or try again later.",
  AP_UPSTREAM_SILENT: "{host} sent nothing for {seconds} s; the request was cancelled.",
  AP_PROVIDER_MISSING:
    "The provider {provider} needs packages that are not installed: run `npm install {packages}`.",
  AP_PROVIDER_SETUP: "The provider {provider} is not set up: {problem}.",
  AP_PROVIDER_UNSUPPORTED: "The provider {provider} cannot be sent {what}.",
  AP_PROVIDER_REFUSED: "The provider {provider} refused the prompt with status {status}: {problem}.",
  AP_PROVIDER_UNREACHABLE: "No answer from the provider {provider} ({problem}).",
  AP_PROVIDER_BROKEN: "The answer of the provider {provider} is incomplete ({problem}).",
  AP_PROVIDER_CANCELLED: "The call to the provider {provider} was cancelled.",
  AP_PROVIDER_LATE: "The provider {provider} sent nothing for {ms} ms; the call was cancelled.",
  AP_RUNTIME_BUDGET:
    "The prompt needs {tokens} tokens, but the budget is {budget}. It is already as short as possible.",
  AP_RUNTIME_ROUNDS: "{agent} called tools in {rounds} rounds of one run and was stopped.",
  AP_RUNTIME_FAULT: "Internal error: {problem}.",
  AP_AGENT_UNKNOWN: "There is no agent {agent} in this space; known agents: {known}.",
  AP_AGENT_EXISTS: "This space already has an agent {agent}.",
  AP_FORK_EXISTS: "Stream {stream} already exists and was not forked from {parent}.",
  AP_TOOL_INVALID: "The tool {tool} is invalid: {problem}.",
  AP_SPACE_CLOSED: "This space is closed.",
  AP_SPACE_BUSY: "This space is too busy: the command could not be executed. Try again.",
} as const;

export type ErrorCode = keyof typeof errorRegistry;

/** Makes the error with that code and fills its message from the details. */
export function apertureError(code: ErrorCode, details: ErrorDetails = {}): ApertureError {
  const message = errorRegistry[code].replace(/\{(\w+)\}/g, (_, name: string) =>
    String(details[name] ?? "?"),
  );
  return { code, message, details };
}
