import type { IncomingMessage, ServerResponse } from "node:http";
import { apertureError, type Clock, limits, type Result } from "../base/index.ts";
import type { Mode } from "../engine/index.ts";
import type { Ask, EngineEvent } from "../session/index.ts";
import { Auth, type Proof, pageProblem, writeProblem } from "./auth.ts";
import { type ExportWish, exportFormats, type Health, type Needs } from "./contract.ts";
import {
  type Asked,
  allows,
  askedOf,
  isOurs,
  isPanelPath,
  type Matched,
  matchRoute,
  methodsOf,
  queryProblem,
} from "./match.ts";
import { type MetricsSnapshot, metricsText } from "./metrics.ts";
import { type Panel, sendFile } from "./panel.ts";
import { exchangeIn, type Reader, readers, sessionIn } from "./readers.ts";
import { Repeats } from "./repeats.ts";
import type { Replay, ReplayAnswer } from "./replayed.ts";
import { type Answer, attachment, json, refusal, send, text } from "./respond.ts";
import { type EventOptions, Viewers } from "./viewers.ts";
import { isWriter, type Writer, writers } from "./writers.ts";
import { writtenBytes, writtenJson } from "./written.ts";

export type ControlOptions = {
  readonly ask: Ask;
  /** Calls back for everything that happens, in order; returns how to stop. */
  readonly watch: (listener: (event: EngineEvent) => void) => () => void;
  readonly token: string;
  readonly health: () => Health;
  readonly metrics: () => MetricsSnapshot;
  readonly version: string;
  /** Where requests go, by the name of the upstream. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** As it is configured. */
  readonly mode: Mode;
  readonly clock: Clock;
  /** The files of the panel; null: this build has none, and says so where it would be. */
  readonly panel?: Panel | null;
  readonly events?: Partial<EventOptions>;
  /** Writes a session as a file, somewhere the relay is not held up; absent where nobody can. */
  readonly exported?: (wish: ExportWish) => Promise<Result<Uint8Array>>;
  /** Replays requests against the strict model, somewhere the relay is not held up. */
  readonly replayed: Replay;
};

export type Control = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Whether a path is ours to answer. */
  readonly isOurs: (path: string) => boolean;
  /** How many are watching. */
  readonly viewers: () => number;
  /** Ends all that watch; nothing else is held open. */
  readonly close: () => void;
};

/** What panel and command line talk to. Nothing in here can hold up or fail a request that is relayed. */
export function createControl(options: ControlOptions): Control {
  const desk = new Desk(options);
  return {
    handle: (request, response) => void desk.handle(request, response),
    isOurs,
    viewers: () => desk.viewers.size,
    close: () => desk.viewers.close(),
  };
}

type Call = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly asked: Asked;
  readonly matched: Matched;
};

class Desk {
  readonly viewers: Viewers;
  readonly #options: ControlOptions;
  readonly #auth: Auth;
  readonly #repeats = new Repeats<Answer>();

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#auth = new Auth(options);
    this.viewers = new Viewers(options.ask, options.watch, options.events ?? {});
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller that leaves while it is answered is no concern of anybody else.
    response.on("error", () => response.destroy());
    try {
      const answer = await this.#answer(request, response);
      if (answer !== null) send(request, response, answer);
    } catch {
      send(request, response, refusal(apertureError("AP_CONTROL_FAULT")));
    }
  }

  /** Who asks is settled before what for: a stranger does not even learn what there is. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | null> {
    const foreign = pageProblem(request);
    if (foreign !== null) return refusal(foreign);
    const asked = askedOf(request.method, request.url);
    if (this.#options.panel && isPanelPath(asked.path)) return this.#show({ request, response, asked });
    const matched = matchRoute(asked);
    const denied = this.#denied(request, asked, matched?.route.needs ?? "login");
    if (denied !== null) return denied;
    if (matched === null) return unknownRoute(asked);
    if (!allows(matched.route, asked.method)) return wrongMethod(asked);
    const wrong = queryProblem(asked, matched.route);
    if (wrong !== null) return refusal(wrong);
    return await this.#serve({ request, response, asked, matched });
  }

  /** The panel itself holds nothing of anybody; what it shows it has to ask for, with a login. */
  #show({ request, response, asked }: Omit<Call, "matched">): Answer | null {
    const file = this.#options.panel?.fileAt(asked.path) ?? null;
    if (file === null) return unknownRoute(asked);
    if (asked.method !== "GET" && asked.method !== "HEAD") {
      const { method } = asked;
      return refusal(apertureError("AP_METHOD_INVALID", { method, allowed: "GET, HEAD" }), {
        allow: "GET, HEAD",
      });
    }
    sendFile(request, response, file);
    return null;
  }

  #denied(request: IncomingMessage, { method }: Asked, needs: Needs): Answer | null {
    if (needs === "nothing") return null;
    const proof: Proof = this.#auth.proofOf(request);
    if (proof === null || (needs === "token" && proof !== "token")) {
      return refusal(apertureError("AP_AUTH_REQUIRED"), { "www-authenticate": 'Bearer realm="aperture"' });
    }
    const isWrite = method !== "GET" && method !== "HEAD";
    const problem = isWrite && proof === "cookie" ? writeProblem(request) : null;
    return problem === null ? null : refusal(problem);
  }

  async #serve(call: Call): Promise<Answer | null> {
    const { asked, matched, request, response } = call;
    switch (matched.route.name) {
      case "welcome":
        return text(welcome(this.#options.version));
      case "login":
        return this.#login(asked.query.get("code") ?? "", asked.query.get("session"));
      case "healthz":
        return json({ ok: true });
      case "readyz":
        return json({ ok: true, ...this.#options.health() });
      case "health": {
        const { version, clock, health, mode, upstreams } = this.#options;
        return json({ version, time: clock.now(), mode, upstreams, ...health() });
      }
      case "metrics":
        return text(metricsText({ ...this.#options.metrics(), viewers: this.viewers.size }));
      case "login-link":
        return json(this.#auth.newLink());
      case "logout":
        return json({ ok: true }, { "set-cookie": this.#auth.logout(request) });
      case "import":
        return await this.#takeIn(request);
      case "export":
        return await this.#export(call);
      case "request-replay":
        return await this.#replay(call);
      case "events":
        return await this.viewers.open({ asked, request, response });
      default:
        return isWriter(matched.route.name)
          ? await this.#write(writers[matched.route.name], call)
          : await this.#read(readers[matched.route.name], call);
    }
  }

  async #write(writer: Writer, { asked, matched, request }: Call): Promise<Answer> {
    const written = await writtenJson(request);
    if (!written.ok) return refusal(written.error);
    const { ask } = this.#options;
    const wish = { asked, params: matched.params, written: written.value, repeats: this.#repeats };
    const answer = await writer(ask, wish);
    return answer.ok ? answer.value : refusal(answer.error);
  }

  /** Not looked into here, where requests are relayed: the log's thread has the time. */
  async #takeIn(request: IncomingMessage): Promise<Answer> {
    const bytes = await writtenBytes(request, limits.importedBytesMax);
    const answer = bytes.ok ? await this.#options.ask({ type: "import", bytes: bytes.value }) : bytes;
    return answer.ok ? json(answer.value) : refusal(answer.error);
  }

  async #export({ asked, matched }: Call): Promise<Answer> {
    const { ask, exported } = this.#options;
    const named = asked.query.get("format") ?? "jsonl";
    const format = exportFormats.find((each) => each === named);
    if (format === undefined || exported === undefined) {
      return refusal(apertureError("AP_QUERY_INVALID", { problem: formatProblem }));
    }
    const found = await ask({ type: "session", session: sessionIn(matched.params) });
    if (!found.ok) return refusal(found.error);
    const { id } = found.value.session;
    const bytes = await exported({ session: id, format });
    return bytes.ok ? attachment(bytes.value, `aperture-${id.slice(0, 8)}.${format}`) : refusal(bytes.error);
  }

  async #replay({ matched: { params } }: Call): Promise<Answer> {
    const { ask, replayed } = this.#options;
    const exchange = exchangeIn(params);
    const bodies = await ask({ type: "sent-bodies", session: sessionIn(params), exchange });
    if (!bodies.ok) return refusal(bodies.error);
    const verdict = await replayed(bodies.value);
    if (!verdict.ok) return refusal(verdict.error);
    const { session, seq } = bodies.value;
    return json({ session, seq, exchange, ...verdict.value } satisfies ReplayAnswer);
  }

  async #read(reader: Reader, { asked, matched }: Call): Promise<Answer> {
    const answer: Result<Answer> = await reader(this.#options.ask, asked, matched.params);
    return answer.ok ? answer.value : refusal(answer.error);
  }

  async #login(code: string, session: string | null): Promise<Answer> {
    const result = this.#auth.login(code);
    if ("code" in result) {
      return refusal(result, result.code === "AP_LOGIN_BUSY" ? { "retry-after": "60" } : {});
    }
    // Whatever else it may say, it leads nowhere but to a page of ours.
    const found = session === "last" ? await this.#newest() : session;
    const location = found === null ? "/" : `/s/${encodeURIComponent(found)}`;
    return { ...text(""), status: 303, headers: { location, "set-cookie": result.cookie } };
  }

  /** Null while there is no session. */
  async #newest(): Promise<string | null> {
    const page = await this.#options.ask({ type: "sessions", limit: 1 });
    return page.ok ? (page.value.rows[0]?.id ?? null) : null;
  }
}

const formatProblem = `format must be one of ${exportFormats.join(", ")}`;

function unknownRoute({ path }: Asked): Answer {
  return refusal(apertureError("AP_ROUTE_UNKNOWN", { path: path.slice(0, 200) }));
}

function wrongMethod({ method, path }: Asked): Answer {
  const allowed = methodsOf(path);
  return refusal(apertureError("AP_METHOD_INVALID", { method, allowed }), { allow: allowed });
}

function welcome(version: string): string {
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
