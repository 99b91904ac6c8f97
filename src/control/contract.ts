import type {
  BlockDetail,
  DecideAnswer,
  EngineEvent,
  ExpansionAnswer,
  FramesPage,
  ManifestAnswer,
  ModeAnswer,
  ReverseAnswer,
  SelectAnswer,
  SelectionAnswer,
  SessionDetail,
  SessionsPage,
  StateRow,
  StepsPage,
} from "../session/index.ts";
import type { PricedDetail, PricedPage } from "./bills.ts";
import type { PricedApprovals, PricedCommand } from "./command-bills.ts";

export const apiPrefix = "/api/v1";

/** One route. `:word` in a path stands for one segment; a session may be given as `last`. */
type RouteShape = {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly query: readonly string[];
  readonly needs: Needs;
  readonly returns: keyof Returned | "text" | "bytes" | "events" | "redirect";
  readonly about: string;
};

/** Nothing; the token or a cookie; or the token itself. */
export type Needs = "nothing" | "login" | "token";

const open = { method: "GET", query: [], needs: "nothing" } as const;
const read = { method: "GET", query: [], needs: "login" } as const;
const write = { method: "POST", query: [], needs: "login" } as const;

/**
 * What callers may rely on. The server routes by these rows, a test asks each of them without credentials,
 * and docs/reference/api.md describes each.
 */
const table = [
  { ...open, name: "welcome", path: "/", returns: "text", about: "what is running, and nothing else" },
  {
    ...open,
    name: "login",
    path: "/login",
    query: ["code"],
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
    ...read,
    name: "state",
    path: "/api/v1/sessions/:session/state",
    query: ["at", "stream"],
    returns: "StateRow",
    about: "window, strip and block rows, now or as of a seq",
  },
  {
    ...read,
    name: "block",
    path: "/api/v1/sessions/:session/blocks/:block",
    query: ["at", "stream", "from", "length"],
    returns: "BlockDetail",
    about: "one block with its content and its history",
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
    about: "takes up a step again that was taken back",
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

export type RouteName = (typeof table)[number]["name"];
export type Route = RouteShape & { readonly name: RouteName };
export const routes: readonly Route[] = table;

/** What the routes that return JSON return, by the name in their row. */
export type Returned = {
  readonly Alive: { readonly ok: true };
  readonly Ready: ReadyAnswer;
  readonly HealthAnswer: HealthAnswer;
  readonly SessionsPage: SessionsPage;
  readonly SessionDetail: SessionDetail;
  readonly StateRow: StateRow;
  readonly BlockDetail: BlockDetail;
  readonly SelectionAnswer: SelectionAnswer;
  readonly SelectAnswer: SelectAnswer;
  readonly StepsPage: StepsPage;
  readonly ReverseAnswer: ReverseAnswer;
  readonly PricedCommand: PricedCommand;
  readonly PricedApprovals: PricedApprovals;
  readonly DecideAnswer: DecideAnswer;
  readonly ModeAnswer: ModeAnswer;
  readonly ManifestAnswer: ManifestAnswer;
  readonly ExpansionAnswer: ExpansionAnswer;
  readonly RequestsPage: PricedPage;
  readonly RequestDetail: PricedDetail;
  readonly FramesPage: FramesPage;
  readonly LoginLink: LoginLink;
  readonly LoggedOut: { readonly ok: true };
};

/** What is being kept of what passes through. */
export type RecordingHealth = {
  readonly on: boolean;
  /** Requests that were relayed and not recorded, since the start. */
  readonly missed: number;
  /** Since when it is off, in milliseconds since 1970. */
  readonly since: number | null;
};
export type Health = {
  readonly storage: "ok" | "degraded";
  readonly message: string | null;
  readonly recording: RecordingHealth;
};
export type ReadyAnswer = { readonly ok: true } & Health;
export type HealthAnswer = Health & {
  readonly version: string;
  readonly time: number;
  /** Where requests go, by the name of the upstream: origin and path, never a credential. */
  readonly upstreams: Readonly<Record<string, string>>;
};

export type LoginLink = {
  /** Path and query; valid once. */
  readonly path: string;
  readonly expiresMs: number;
};

/** Every error has this shape and a code of the registry. */
export type ErrorAnswer = { readonly error: { readonly code: string; readonly message: string } };

/** Sent when events were left out: what was read before must be read again. */
export type ResyncEvent = {
  readonly type: "resync";
  readonly session: string | null;
  readonly seq: number | null;
};
export type ViewerEvent = EngineEvent | ResyncEvent;

/**
 * Figures by name without prefix, with labels in the name if there are any: `requests_total` or
 * `requests_total{outcome="complete"}`. A name that ends in `_total` only grows.
 */
export type MetricsSnapshot = Readonly<Record<string, number>>;
