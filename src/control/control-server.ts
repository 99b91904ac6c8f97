import type { IncomingMessage, ServerResponse } from "node:http";
import { apertureError, type Clock, limits, type Result } from "../base/index.ts";
import type { Mode } from "../engine/frames/index.ts";
import type { Asker } from "../host/index.ts";
import type { EngineEvent } from "../log/index.ts";
import { Auth, type Proof, pageProblem, writeProblem } from "./auth.ts";
import { type ExportRequest, exportFormats, type RouteAccess } from "./contract.ts";
import type { ControlHealth, HealthAnswer, LoginConsent, ManageLoginsAnswer } from "./health.ts";
import { IdempotencyCache } from "./idempotency.ts";
import {
  allowedMethods,
  allowsMethod,
  type ControlRequest,
  isOwnPath,
  isPanelPath,
  matchRoute,
  parseControlRequest,
  queryProblem,
  type RouteMatch,
} from "./match-route.ts";
import { type MetricsSnapshot, metricsText } from "./metrics-text.ts";
import { type Panel, sendFile } from "./panel-files.ts";
import { exchangeParam, type Reader, readers, sessionParam } from "./readers.ts";
import type { Replay, ReplayAnswer } from "./replay-answer.ts";
import { readBodyBytes, readJsonBody } from "./request-body.ts";
import { errorAnswer, fileAnswer, type HttpAnswer, jsonAnswer, sendAnswer, textAnswer } from "./respond.ts";
import type { ViewerPace } from "./viewer.ts";
import { Viewers } from "./viewers.ts";
import { manageLoginsProblem, parseManageLogins } from "./write-requests.ts";
import { isWriter, type Writer, writers } from "./writers.ts";

export type ControlOptions = {
  readonly ask: Asker;
  /** Calls the listener for every event, in order; returns a function that stops it. */
  readonly watch: (listener: (event: EngineEvent) => void) => () => void;
  readonly token: string;
  readonly health: () => ControlHealth;
  readonly metrics: () => MetricsSnapshot;
  readonly version: string;
  /** The addresses of the upstreams, by name. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** The configured mode. */
  readonly mode: Mode;
  readonly consent: LoginConsent;
  readonly clock: Clock;
  /** The files of the panel; null if this build has none, and then `/` says what runs. */
  readonly panel?: Panel | null;
  readonly events?: Partial<ViewerPace>;
  /** Writes a session as a file, on a thread where it does not delay the relay; absent without one. */
  readonly exportSession?: (request: ExportRequest) => Promise<Result<Uint8Array>>;
  /** Replays requests against the strict model, on a thread where it does not delay the relay. */
  readonly replay: Replay;
};

export type Control = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Whether the control server answers a path. */
  readonly isOwnPath: (path: string) => boolean;
  /** The number of open event streams. */
  readonly viewers: () => number;
  /** Ends all event streams; nothing else is held open. */
  readonly close: () => void;
};

/** Creates the server of the control API. It can neither delay nor fail a relayed request. */
export function createControl(options: ControlOptions): Control {
  const server = new ControlServer(options);
  return {
    handle: (request, response) => void server.handle(request, response),
    isOwnPath,
    viewers: () => server.viewers.size,
    close: () => server.viewers.close(),
  };
}

type RoutedCall = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: ControlRequest;
  readonly match: RouteMatch;
};

/** Routes requests of the panel and the command line. */
class ControlServer {
  readonly viewers: Viewers;
  readonly #options: ControlOptions;
  readonly #auth: Auth;
  readonly #idempotency = new IdempotencyCache<HttpAnswer>();

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#auth = new Auth(options);
    this.viewers = new Viewers(options.ask, options.watch, options.events ?? {});
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller that leaves while it is answered must not disturb others.
    response.on("error", () => response.destroy());
    try {
      const answer = await this.#answer(request, response);
      if (answer !== null) sendAnswer(request, response, answer);
    } catch {
      sendAnswer(request, response, errorAnswer(apertureError("AP_CONTROL_FAULT")));
    }
  }

  /** Checks the caller before the route, so that a stranger does not learn which routes exist. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<HttpAnswer | null> {
    const foreignPage = pageProblem(request);
    if (foreignPage !== null) return errorAnswer(foreignPage);
    const target = parseControlRequest(request.method, request.url);
    if (this.#options.panel && isPanelPath(target.path))
      return this.#sendPanel({ request, response, target });
    const match = matchRoute(target);
    const denied = this.#denyAccess(request, target, match?.route.needs ?? "login");
    if (denied !== null) return denied;
    if (match === null) return unknownRoute(target);
    if (!allowsMethod(match.route, target.method)) return wrongMethod(target);
    const badQuery = queryProblem(target, match.route);
    if (badQuery !== null) return errorAnswer(badQuery);
    return await this.#serve({ request, response, target, match });
  }

  /** Panel files are public; the data they show needs a login. */
  #sendPanel({ request, response, target }: Omit<RoutedCall, "match">): HttpAnswer | null {
    const file = this.#options.panel?.fileAt(target.path) ?? null;
    if (file === null) return unknownRoute(target);
    if (target.method !== "GET" && target.method !== "HEAD") {
      const { method } = target;
      return errorAnswer(apertureError("AP_METHOD_INVALID", { method, allowed: "GET, HEAD" }), {
        allow: "GET, HEAD",
      });
    }
    sendFile(request, response, file);
    return null;
  }

  /** Null if the caller has the access that the route needs. */
  #denyAccess(request: IncomingMessage, { method }: ControlRequest, needs: RouteAccess): HttpAnswer | null {
    if (needs === "nothing") return null;
    const proof: Proof = this.#auth.proofOf(request);
    if (proof === null || (needs === "token" && proof !== "token")) {
      return errorAnswer(apertureError("AP_AUTH_REQUIRED"), {
        "www-authenticate": 'Bearer realm="aperture"',
      });
    }
    const isWrite = method !== "GET" && method !== "HEAD";
    const problem = isWrite && proof === "cookie" ? writeProblem(request) : null;
    return problem === null ? null : errorAnswer(problem);
  }

  async #serve(call: RoutedCall): Promise<HttpAnswer | null> {
    const { target, match, request, response } = call;
    switch (match.route.name) {
      case "welcome":
        return textAnswer(welcomeText(this.#options.version));
      case "login":
        return this.#login(target.query.get("code") ?? "", target.query.get("session"));
      case "healthz":
        return jsonAnswer({ ok: true });
      case "readyz":
        return jsonAnswer({ ok: true, ...this.#options.health() });
      case "health":
        return jsonAnswer(this.#health());
      case "metrics":
        return textAnswer(metricsText({ ...this.#options.metrics(), viewers: this.viewers.size }));
      case "manage-logins":
        return await this.#setConsent(request);
      case "login-link":
        return jsonAnswer(this.#auth.newLink());
      case "logout":
        return jsonAnswer({ ok: true }, { "set-cookie": this.#auth.logout(request) });
      case "import":
        return await this.importSession(request);
      case "export":
        return await this.#export(call);
      case "request-replay":
        return await this.#replay(call);
      case "events":
        return await this.viewers.open({ target, request, response });
      default:
        return isWriter(match.route.name)
          ? await this.#write(writers[match.route.name], call)
          : await this.#read(readers[match.route.name], call);
    }
  }

  #health(): HealthAnswer {
    const { version, clock, health, mode, consent, upstreams } = this.#options;
    const managesLogins = consent.isGiven();
    return { version, time: clock.now(), mode, managesLogins, upstreams, ...health() };
  }

  async #write(writer: Writer, { target, match, request }: RoutedCall): Promise<HttpAnswer> {
    const body = await readJsonBody(request);
    if (!body.ok) return errorAnswer(body.error);
    const { ask } = this.#options;
    const { params } = match;
    const write = { request: target, params, body: body.value, idempotency: this.#idempotency };
    const answer = await writer(ask, write);
    return answer.ok ? answer.value : errorAnswer(answer.error);
  }

  async #setConsent(request: IncomingMessage): Promise<HttpAnswer> {
    const body = await readJsonBody(request);
    if (!body.ok) return errorAnswer(body.error);
    const managesLogins = parseManageLogins(body.value);
    if (managesLogins === null) {
      return errorAnswer(apertureError("AP_INPUT_INVALID", { problem: manageLoginsProblem }));
    }
    this.#options.consent.set(managesLogins);
    return jsonAnswer({ managesLogins } satisfies ManageLoginsAnswer);
  }

  /** The bytes are parsed on the log's thread, because this one relays requests. */
  async importSession(request: IncomingMessage): Promise<HttpAnswer> {
    const bytes = await readBodyBytes(request, limits.importedBytesMax);
    const answer = bytes.ok ? await this.#options.ask({ type: "import", bytes: bytes.value }) : bytes;
    return answer.ok ? jsonAnswer(answer.value) : errorAnswer(answer.error);
  }

  async #export({ target, match }: RoutedCall): Promise<HttpAnswer> {
    const { ask, exportSession } = this.#options;
    const requested = target.query.get("format") ?? "jsonl";
    const format = exportFormats.find((each) => each === requested);
    if (format === undefined || exportSession === undefined) {
      return errorAnswer(apertureError("AP_QUERY_INVALID", { problem: formatProblem }));
    }
    const found = await ask({ type: "session", session: sessionParam(match.params) });
    if (!found.ok) return errorAnswer(found.error);
    const { id } = found.value.session;
    const bytes = await exportSession({ session: id, format });
    return bytes.ok
      ? fileAnswer(bytes.value, `aperture-${id.slice(0, 8)}.${format}`)
      : errorAnswer(bytes.error);
  }

  async #replay({ match: { params } }: RoutedCall): Promise<HttpAnswer> {
    const { ask, replay } = this.#options;
    const exchange = exchangeParam(params);
    const bodies = await ask({ type: "sent-bodies", session: sessionParam(params), exchange });
    if (!bodies.ok) return errorAnswer(bodies.error);
    const verdict = await replay(bodies.value);
    if (!verdict.ok) return errorAnswer(verdict.error);
    const { session, seq } = bodies.value;
    return jsonAnswer({ session, seq, exchange, ...verdict.value } satisfies ReplayAnswer);
  }

  async #read(reader: Reader, { target, match }: RoutedCall): Promise<HttpAnswer> {
    const answer: Result<HttpAnswer> = await reader(this.#options.ask, target, match.params);
    return answer.ok ? answer.value : errorAnswer(answer.error);
  }

  async #login(code: string, session: string | null): Promise<HttpAnswer> {
    const result = this.#auth.login(code);
    if ("code" in result) {
      return errorAnswer(result, result.code === "AP_LOGIN_BUSY" ? { "retry-after": "60" } : {});
    }
    // The session is encoded into a path of ours, so the redirect cannot lead elsewhere.
    const opened = session === "last" ? await this.#newestSession() : session;
    const location = opened === null ? "/" : `/s/${encodeURIComponent(opened)}`;
    return { ...textAnswer(""), status: 303, headers: { location, "set-cookie": result.cookie } };
  }

  /** Null if there is no session yet. */
  async #newestSession(): Promise<string | null> {
    const page = await this.#options.ask({ type: "sessions", limit: 1 });
    return page.ok ? (page.value.rows[0]?.id ?? null) : null;
  }
}

const formatProblem = `format must be one of ${exportFormats.join(", ")}`;

function unknownRoute({ path }: ControlRequest): HttpAnswer {
  return errorAnswer(apertureError("AP_ROUTE_UNKNOWN", { path: path.slice(0, 200) }));
}

function wrongMethod({ method, path }: ControlRequest): HttpAnswer {
  const allowed = allowedMethods(path);
  return errorAnswer(apertureError("AP_METHOD_INVALID", { method, allowed }), { allow: allowed });
}

function welcomeText(version: string): string {
  return [
    `Aperture ${version}`,
    "",
    "Gives a language model explicit knowledge of its own context window,",
    "and the power to manage it together with its user.",
    "",
    "What passes through is recorded here. To look at it: aperture sessions",
    "Health: /healthz and /readyz",
    "",
  ].join("\n");
}
