import type { RouteAnswers } from "./route-answers.ts";

export const apiPrefix = "/api/v1";

/** One route. `:word` in a path stands for one segment; `last` names the newest session. */
type RouteShape = {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query: readonly string[];
  readonly needs: RouteAccess;
  readonly returns: keyof RouteAnswers | "text" | "bytes" | "events" | "redirect";
  readonly about: string;
};

/** nothing: open to all. login: the token or a cookie. token: the token itself. */
export type RouteAccess = "nothing" | "login" | "token";

const open = { method: "GET", query: [], needs: "nothing" } as const;
const read = { method: "GET", query: [], needs: "login" } as const;
const write = { method: "POST", query: [], needs: "login" } as const;
const keep = { method: "POST", query: [], needs: "token" } as const;

/**
 * The routes that callers may rely on. The server routes by these rows, a test calls each of them without
 * credentials, and docs/reference/api.md describes each.
 */
const routeTable = [
  { ...open, name: "welcome", path: "/", returns: "text", about: "what is running, and nothing else" },
  {
    ...open,
    name: "login",
    path: "/login",
    query: ["code", "session"],
    returns: "redirect",
    about: "takes a one-time code and sets the cookie",
  },
  { ...open, name: "healthz", path: "/healthz", returns: "Alive", about: "answers while the process does" },
  {
    ...open,
    name: "readyz",
    path: "/readyz",
    returns: "Ready",
    about: "answers 200 while requests can be relayed",
  },
  {
    ...read,
    name: "metrics",
    path: "/metrics",
    needs: "token",
    returns: "text",
    about: "figures in the text format of Prometheus",
  },
  {
    ...read,
    name: "health",
    path: "/api/v1/health",
    returns: "HealthAnswer",
    about: "version, storage and recording",
  },
  {
    ...read,
    name: "sessions",
    path: "/api/v1/sessions",
    query: ["limit", "before"],
    returns: "SessionsPage",
    about: "all sessions, the last one used first",
  },
  {
    ...read,
    name: "session",
    path: "/api/v1/sessions/:session",
    returns: "SessionDetail",
    about: "one session and its streams",
  },
  {
    ...write,
    method: "PUT",
    name: "rename",
    path: "/api/v1/sessions/:session/name",
    returns: "RenameAnswer",
    about: "what the user calls a session",
  },
  {
    ...read,
    name: "export",
    path: "/api/v1/sessions/:session/export",
    query: ["format"],
    returns: "bytes",
    about: "all that is stored of a session as one file, without what looks like a secret",
  },
  {
    ...write,
    method: "DELETE",
    name: "delete-session",
    path: "/api/v1/sessions/:session",
    returns: "DeleteAnswer",
    about: "erases a session for good",
  },
  {
    ...read,
    name: "glance",
    path: "/api/v1/sessions/:session/glance",
    returns: "GlanceAnswer",
    about: "what a status line says of a session",
  },
  {
    ...read,
    name: "state",
    path: "/api/v1/sessions/:session/state",
    query: ["at", "stream", "from", "rows"],
    returns: "StateRow",
    about: "window, strip and block rows, now or as of a seq",
  },
  {
    ...read,
    name: "block",
    path: "/api/v1/sessions/:session/blocks/:block",
    query: ["at", "stream", "from", "length", "level"],
    returns: "BlockDetail",
    about: "one block with its content and its history",
  },
  {
    ...read,
    name: "previews",
    path: "/api/v1/sessions/:session/blocks/:block/levels",
    returns: "PreviewsAnswer",
    about: "what a block would show at each level",
  },
  {
    ...read,
    name: "transcript",
    path: "/api/v1/sessions/:session/transcript",
    query: ["at", "stream"],
    returns: "TranscriptAnswer",
    about: "what the model has before it, as messages a client can go on with",
  },
  {
    ...read,
    name: "labels",
    path: "/api/v1/sessions/:session/labels",
    query: ["blocks"],
    returns: "LabelsAnswer",
    about: "what blocks are about, in a line each",
  },
  {
    ...read,
    name: "selection",
    path: "/api/v1/sessions/:session/selection",
    query: ["stream"],
    returns: "SelectionAnswer",
    about: "the blocks the user has selected, and what the model reads of it",
  },
  {
    name: "select",
    method: "PUT",
    path: "/api/v1/sessions/:session/selection",
    query: ["stream"],
    needs: "login",
    returns: "SelectAnswer",
    about: "makes the selection exactly these blocks",
  },
  {
    ...write,
    name: "ops",
    path: "/api/v1/sessions/:session/ops",
    query: ["stream"],
    returns: "PricedCommand",
    about: "does something to the context, as a model could and more",
  },
  {
    ...write,
    name: "plan",
    path: "/api/v1/sessions/:session/plan",
    query: ["stream"],
    returns: "PricedCommand",
    about: "what a command would come to; nothing is done",
  },
  {
    ...read,
    name: "approvals",
    path: "/api/v1/sessions/:session/approvals",
    query: ["stream", "all"],
    returns: "PricedApprovals",
    about: "commands that wait for the user",
  },
  {
    ...write,
    name: "decide-all",
    path: "/api/v1/sessions/:session/approvals",
    returns: "DecideAnswer",
    about: "approves or denies all that wait",
  },
  {
    ...write,
    name: "decide",
    path: "/api/v1/sessions/:session/approvals/:approval",
    returns: "DecideAnswer",
    about: "approves or denies one that waits",
  },
  {
    ...read,
    name: "mode",
    path: "/api/v1/sessions/:session/mode",
    returns: "ModeAnswer",
    about: "how much is done without asking, as the user said for this session",
  },
  {
    ...write,
    method: "PUT",
    name: "set-mode",
    path: "/api/v1/sessions/:session/mode",
    returns: "ModeAnswer",
    about: "sets that",
  },
  {
    ...read,
    name: "permissions",
    path: "/api/v1/permissions",
    returns: "PermissionsAnswer",
    about: "what the user has said for always about what models may do",
  },
  {
    ...write,
    method: "PUT",
    name: "set-permission",
    path: "/api/v1/permissions",
    returns: "PermissionsAnswer",
    about: "says it about one verb, or takes it back",
  },
  {
    ...read,
    name: "steps",
    path: "/api/v1/sessions/:session/steps",
    query: ["limit", "below"],
    returns: "StepsPage",
    about: "what was done to blocks, by whom and why, the newest last",
  },
  {
    ...write,
    name: "undo",
    path: "/api/v1/sessions/:session/undo",
    returns: "ReverseAnswer",
    about: "takes back a step, without a number the last one",
  },
  {
    ...write,
    name: "redo",
    path: "/api/v1/sessions/:session/redo",
    returns: "ReverseAnswer",
    about: "redoes a step that was undone",
  },
  {
    ...read,
    name: "manifest",
    path: "/api/v1/sessions/:session/manifest",
    query: ["detail", "stream"],
    returns: "ManifestAnswer",
    about: "what the model is told of its context now",
  },
  {
    ...read,
    name: "expansion",
    path: "/api/v1/sessions/:session/expansion",
    query: ["block", "messages", "stream"],
    returns: "ExpansionAnswer",
    about: "what is stored of a block or of messages, as a model would get it",
  },
  {
    ...read,
    name: "requests",
    path: "/api/v1/sessions/:session/requests",
    query: ["after", "limit"],
    returns: "RequestsPage",
    about: "the exchanges of a session, in order",
  },
  {
    ...read,
    name: "request",
    path: "/api/v1/sessions/:session/requests/:exchange",
    returns: "RequestDetail",
    about: "one exchange, its bodies and its attempts",
  },
  {
    ...read,
    name: "request-diff",
    path: "/api/v1/sessions/:session/requests/:exchange/diff",
    query: ["with"],
    returns: "RequestDiff",
    about:
      "what the client sent against what went upstream, block by block, with a reason for each difference",
  },
  {
    ...read,
    name: "request-replay",
    path: "/api/v1/sessions/:session/requests/:exchange/replay",
    returns: "ReplayAnswer",
    about: "what the strict model inside Aperture says to the bytes that went upstream; nothing is sent",
  },
  {
    ...read,
    name: "client-body",
    path: "/api/v1/sessions/:session/requests/:exchange/client",
    returns: "bytes",
    about: "the request as the client sent it",
  },
  {
    ...read,
    name: "upstream-body",
    path: "/api/v1/sessions/:session/requests/:exchange/upstream",
    returns: "bytes",
    about: "the request as it went upstream",
  },
  {
    ...read,
    name: "response-body",
    path: "/api/v1/sessions/:session/requests/:exchange/response",
    returns: "bytes",
    about: "the response as it came from upstream",
  },
  {
    ...read,
    name: "frames",
    path: "/api/v1/sessions/:session/frames",
    query: ["after", "limit"],
    returns: "FramesPage",
    about: "frames as they are stored",
  },
  {
    ...read,
    name: "events",
    path: "/api/v1/events",
    query: ["session", "after"],
    returns: "events",
    about: "what happens, as it happens",
  },
  {
    ...keep,
    name: "verify",
    path: "/api/v1/verify",
    returns: "VerifyReport",
    about: "checks what is stored",
  },
  { ...keep, name: "gc", path: "/api/v1/gc", returns: "GcReport", about: "drops what nothing points to" },
  { ...keep, name: "backup", path: "/api/v1/backup", returns: "BackupReport", about: "copies all of it" },
  {
    ...keep,
    name: "import",
    path: "/api/v1/import",
    returns: "Imported",
    about: "writes a session from a transcript into the log",
  },
  {
    ...keep,
    name: "manage-logins",
    method: "PUT",
    path: "/api/v1/manage-logins",
    returns: "ManageLoginsAnswer",
    about: "whether sessions of subscription logins are managed, until Aperture ends",
  },
  {
    name: "login-link",
    method: "POST",
    path: "/api/v1/login-links",
    query: [],
    needs: "token",
    returns: "LoginLink",
    about: "a link that logs one browser in, once",
  },
  {
    name: "logout",
    method: "POST",
    path: "/api/v1/logout",
    query: [],
    needs: "login",
    returns: "LoggedOut",
    about: "ends the login of the cookie it is called with",
  },
] as const satisfies readonly RouteShape[];

/** The export formats of a session; `jsonl` holds everything and can be checked. */
export const exportFormats = ["jsonl", "md", "html", "har"] as const;
export type ExportFormat = (typeof exportFormats)[number];
export type ExportRequest = { readonly session: string; readonly format: ExportFormat };

type RouteRow = (typeof routeTable)[number];
export type RouteName = RouteRow["name"];

/** Routes that answer a query about sessions; `readers` has one function for each. */
export type ReaderName = Exclude<
  Extract<RouteRow, { readonly method: "GET"; readonly needs: "login" }>["name"],
  "health" | "events" | "export" | "request-replay"
>;
/** Routes that change something; `writers` has one function for each. */
export type WriterName = Exclude<
  Extract<RouteRow, { readonly method: "POST" | "PUT" | "DELETE" }>["name"],
  "import" | "manage-logins" | "login-link" | "logout"
>;
export type ApiRoute = RouteShape & { readonly name: RouteName };
export const routes: readonly ApiRoute[] = routeTable;

/** Every error has this shape and a code of the registry. */
export type ErrorAnswer = { readonly error: { readonly code: string; readonly message: string } };
