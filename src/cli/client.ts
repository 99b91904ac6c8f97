import { type IncomingMessage, request } from "node:http";
import type { Settings } from "../config/index.ts";
import type { ErrorAnswer } from "../control/index.ts";
import { type ServerEvent, serverEvents } from "./event-reader.ts";
import { printable } from "./format/printable.ts";
import { authorityOf } from "./hosts.ts";
import { type Outcome, type Problem, stop, succeed } from "./outcome.ts";
import { findToken } from "./token.ts";
import { exitCodes } from "./usage.ts";

/** An answer as a value and as it came. */
export type Reply<T> = { readonly value: T; readonly text: string };

/** The control API of the Aperture that the settings point to. */
export type Api = {
  readonly url: string;
  /** With so much time where it may take longer than an answer usually does. */
  readonly json: <T>(path: string, waitMs?: number) => Promise<Outcome<Reply<T>>>;
  /** Writes a value to a place, and gives what is there then. */
  readonly put: <T>(path: string, value: unknown) => Promise<Outcome<Reply<T>>>;
  /** Asks for something to be done. */
  readonly post: <T>(path: string, value: unknown) => Promise<Outcome<Reply<T>>>;
  readonly text: (path: string) => Promise<Outcome<string>>;
  readonly bytes: (path: string) => Promise<Outcome<Buffer>>;
  /** Ends when the connection does or when the signal says so. */
  readonly events: (path: string, signal: AbortSignal) => Promise<Outcome<AsyncIterable<ServerEvent>>>;
};

type Place = Pick<Settings, "host" | "port" | "dataDir" | "token">;
type Asked = {
  readonly place: Place;
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly told?: Told;
  /** Set where something is to be written or done. */
  readonly sent?: { readonly method: "PUT" | "POST"; readonly text: string };
};

/** What was asked and what came of it, in a line; for those who want to see what a verb does. */
export type Told = (line: string) => void;

const answerMs = 15_000;
/** The server sends something every 15 seconds; silence for much longer is a broken connection. */
const silenceMs = 60_000;

export function openApi(settings: Place, timeoutMs: number = answerMs, told?: Told): Api {
  const place = { ...settings, host: reachableHost(settings.host) };
  const url = urlOf(place);
  const telling = told === undefined ? {} : { told };
  type How = Partial<Pick<Asked, "sent" | "timeoutMs">>;
  const whole = async (path: string, how: How = {}): Promise<Outcome<Buffer>> => {
    const opened = await open({ place, path, timeoutMs, ...how, ...telling });
    return opened.ok ? await collect(opened.value, place) : opened;
  };
  const write = async <T>(
    path: string,
    method: "PUT" | "POST",
    value: unknown,
  ): Promise<Outcome<Reply<T>>> => {
    const bytes = await whole(path, { sent: { method, text: JSON.stringify(value) } });
    return bytes.ok ? parsed<T>(bytes.value.toString("utf8"), url) : bytes;
  };
  return {
    url,
    bytes: (path) => whole(path),
    put: <T>(path: string, value: unknown) => write<T>(path, "PUT", value),
    post: <T>(path: string, value: unknown) => write<T>(path, "POST", value),
    text: async (path) => {
      const bytes = await whole(path);
      return bytes.ok ? succeed(bytes.value.toString("utf8")) : bytes;
    },
    json: async <T>(path: string, waitMs = timeoutMs) => {
      const bytes = await whole(path, { timeoutMs: waitMs });
      return bytes.ok ? parsed<T>(bytes.value.toString("utf8"), url) : bytes;
    },
    events: async (path, signal) => {
      const opened = await open({ place, path, timeoutMs: silenceMs, signal, ...telling });
      return opened.ok ? succeed(serverEvents(opened.value)) : opened;
    },
  };
}

/** Listening on every address is no address to call; this machine is one of them. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function parsed<T>(text: string, url: string): Outcome<Reply<T>> {
  try {
    return succeed({ value: JSON.parse(text) as T, text }); // our own server keeps to its contract
  } catch {
    return stop(exitCodes.failed, strangerAt(url));
  }
}

/** An answer with a good status, its body still to come. Anything else is a problem in words. */
async function open({
  place,
  path,
  timeoutMs,
  signal,
  sent: written,
  told,
}: Asked): Promise<Outcome<IncomingMessage>> {
  const { token } = findToken(place);
  const proof = token === null ? {} : { authorization: `Bearer ${token}` };
  const headers = written === undefined ? proof : { ...proof, "content-type": "application/json" };
  const method = written?.method ?? "GET";
  const { host, port } = place;
  const startMs = performance.now();
  const response = await new Promise<IncomingMessage | Error>((done) => {
    const options = { host, port, path, method, headers, agent: false, timeout: timeoutMs };
    const sent = request(signal === undefined ? options : { ...options, signal }, done);
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" })));
    sent.on("error", done);
    sent.end(written?.text);
  });
  const outcome = response instanceof Error ? "no answer" : `${response.statusCode}`;
  told?.(`${method} ${path} ${outcome} ${Math.round(performance.now() - startMs)} ms`);
  if (response instanceof Error) return { ok: false, problem: connectProblem(response, place, timeoutMs) };
  if (response.statusCode === 200) return succeed(response);
  const body = await collect(response, place);
  if (!body.ok) return body;
  return { ok: false, problem: answerProblem(response.statusCode ?? 0, body.value.toString("utf8"), place) };
}

async function collect(response: IncomingMessage, place: Place): Promise<Outcome<Buffer>> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer); // no encoding is set
    return succeed(Buffer.concat(chunks));
  } catch {
    return stop(exitCodes.failed, `The answer of Aperture on ${urlOf(place)} broke off. Try again.`);
  }
}

function connectProblem(error: Error, place: Place, timeoutMs: number): Problem {
  const code = "code" in error ? `${error.code}` : error.message;
  const url = urlOf(place);
  if (code === "ETIMEDOUT") {
    const seconds = Math.round(timeoutMs / 1_000);
    return { exit: exitCodes.failed, message: `Aperture on ${url} did not answer within ${seconds} s.` };
  }
  if (code === "ECONNREFUSED") return { exit: exitCodes.stopped, message: notRunning(url) };
  if (code.startsWith("HPE_")) return { exit: exitCodes.failed, message: strangerAt(url) };
  return { exit: exitCodes.stopped, message: `No connection to Aperture on ${url} (${printable(code)}).` };
}

export function notRunning(url: string): string {
  return `Aperture is not running on ${url}; start it with \`aperture up\`, or name the port it has with --port.`;
}

function strangerAt(url: string): string {
  return `Something answers on ${url}, but it is not Aperture. Choose another port with --port or APERTURE_PORT.`;
}

function answerProblem(status: number, body: string, place: Place): Problem {
  const error = errorIn(body);
  if (status === 401) return { exit: exitCodes.refused, message: tokenProblem(place) };
  if (error === null) return { exit: exitCodes.failed, message: strangerAt(urlOf(place)) };
  return { exit: exitFor(status, error.code), message: printable(error.message, 500) };
}

function exitFor(status: number, code: string): number {
  if (code.startsWith("AP_STORE_") || code === "AP_ENGINE_DOWN") return exitCodes.storage;
  if (code === "AP_ROUTE_UNKNOWN") return exitCodes.failed;
  if (status === 404 || status === 410) return exitCodes.missing;
  return status === 400 ? exitCodes.usage : exitCodes.failed;
}

function errorIn(body: string): ErrorAnswer["error"] | null {
  try {
    const { error } = JSON.parse(body) as Partial<ErrorAnswer>; // looked at below before it is used
    return typeof error?.code === "string" && typeof error.message === "string" ? error : null;
  } catch {
    return null;
  }
}

function tokenProblem(place: Place): string {
  const { token, from } = findToken(place);
  const remedy = "Give the data directory it was started with (--data-dir), or its token in APERTURE_TOKEN.";
  return token === null
    ? `Aperture on ${urlOf(place)} asks for its token, and there is none in ${from}. ${remedy}`
    : `Aperture on ${urlOf(place)} did not accept the token from ${from}. ${remedy}`;
}

function urlOf({ host, port }: Place): string {
  return `http://${authorityOf(host, port)}`;
}
