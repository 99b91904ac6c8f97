import { type IncomingMessage, request } from "node:http";
import type { Settings } from "../../config/index.ts";
import type { ErrorAnswer } from "../../control/index.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { type CliProblem, type CliResult, stop, succeed } from "../outcome.ts";
import type { Screen } from "../screen.ts";
import { findToken } from "./api-token.ts";
import { type ServerEvent, serverEvents } from "./event-reader.ts";

/** An answer as a value and as the text that came. */
export type ApiReply<T> = { readonly value: T; readonly text: string };

/** The control API of the Aperture that the settings name. */
export type Api = {
  readonly url: string;
  /** `waitMs` is for answers that take longer than usual. */
  readonly json: <T>(path: string, waitMs?: number) => Promise<CliResult<ApiReply<T>>>;
  /** Writes a value and returns the new one. */
  readonly put: <T>(path: string, value: unknown) => Promise<CliResult<ApiReply<T>>>;
  readonly post: <T>(path: string, value: unknown) => Promise<CliResult<ApiReply<T>>>;
  readonly text: (path: string) => Promise<CliResult<string>>;
  readonly bytes: (path: string) => Promise<CliResult<Buffer>>;
  /** The events end with the connection or by the signal. */
  readonly events: (path: string, signal: AbortSignal) => Promise<CliResult<AsyncIterable<ServerEvent>>>;
};

type ApiLocation = Pick<Settings, "host" | "port" | "dataDir" | "token">;
type ApiRequest = {
  readonly location: ApiLocation;
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly logRequest?: RequestLog;
  /** Absent for GET. */
  readonly body?: { readonly method: "PUT" | "POST"; readonly text: string };
};

/** Takes one line about each request and its outcome, for `--verbose`. */
export type RequestLog = (line: string) => void;

const answerMs = 15_000;
/** The server sends something every 15 seconds; a much longer silence means a broken connection. */
const silenceMs = 60_000;

export function openApi(settings: ApiLocation, timeoutMs: number = answerMs, logRequest?: RequestLog): Api {
  const location = { ...settings, host: reachableHost(settings.host) };
  const url = urlOf(location);
  const log = logRequest === undefined ? {} : { logRequest };
  const send = async (
    path: string,
    options: Partial<Pick<ApiRequest, "body" | "timeoutMs">> = {},
  ): Promise<CliResult<Buffer>> => {
    const opened = await openResponse({ location, path, timeoutMs, ...options, ...log });
    return opened.ok ? await readBody(opened.value, location) : opened;
  };
  const write = async <T>(
    path: string,
    method: "PUT" | "POST",
    value: unknown,
  ): Promise<CliResult<ApiReply<T>>> => {
    const bytes = await send(path, { body: { method, text: JSON.stringify(value) } });
    return bytes.ok ? parseReply<T>(bytes.value.toString("utf8"), url) : bytes;
  };
  return {
    url,
    bytes: (path) => send(path),
    put: <T>(path: string, value: unknown) => write<T>(path, "PUT", value),
    post: <T>(path: string, value: unknown) => write<T>(path, "POST", value),
    text: async (path) => {
      const bytes = await send(path);
      return bytes.ok ? succeed(bytes.value.toString("utf8")) : bytes;
    },
    json: async <T>(path: string, waitMs = timeoutMs) => {
      const bytes = await send(path, { timeoutMs: waitMs });
      return bytes.ok ? parseReply<T>(bytes.value.toString("utf8"), url) : bytes;
    },
    events: async (path, signal) => {
      const opened = await openResponse({ location, path, timeoutMs: silenceMs, signal, ...log });
      return opened.ok ? succeed(serverEvents(opened.value)) : opened;
    },
  };
}

/** The same API. It also warns the user if a change is not on disk yet, whatever the verb prints. */
export function warnUntilDurable(api: Api, screen: Pick<Screen, "err">): Api {
  const warn = <T>(result: CliResult<ApiReply<T>>): CliResult<ApiReply<T>> => {
    const answer = (result.ok ? result.value.value : null) as { readonly durable?: boolean } | null;
    if (answer?.durable === false) {
      screen.err("The change is in effect, but not on disk yet. See `aperture status`.");
    }
    return result;
  };
  return {
    ...api,
    put: async <T>(path: string, value: unknown) => warn(await api.put<T>(path, value)),
    post: async <T>(path: string, value: unknown) => warn(await api.post<T>(path, value)),
  };
}

/** The wildcard address cannot be called; the loopback address reaches the same server. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function parseReply<T>(text: string, url: string): CliResult<ApiReply<T>> {
  try {
    return succeed({ value: JSON.parse(text) as T, text }); // our own server keeps to its contract
  } catch {
    return stop(exitCodes.failed, notApertureText(url));
  }
}

/** A response with status 200 whose body is still to be read. Everything else is a problem. */
async function openResponse({
  location,
  path,
  timeoutMs,
  signal,
  body,
  logRequest,
}: ApiRequest): Promise<CliResult<IncomingMessage>> {
  const { token } = findToken(location);
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const headers =
    body === undefined ? authorization : { ...authorization, "content-type": "application/json" };
  const method = body?.method ?? "GET";
  const { host, port } = location;
  const startMs = performance.now();
  const response = await new Promise<IncomingMessage | Error>((done) => {
    const options = { host, port, path, method, headers, agent: false, timeout: timeoutMs };
    const sent = request(signal === undefined ? options : { ...options, signal }, done);
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" })));
    sent.on("error", done);
    sent.end(body?.text);
  });
  const status = response instanceof Error ? "no answer" : `${response.statusCode}`;
  logRequest?.(`${method} ${path} ${status} ${Math.round(performance.now() - startMs)} ms`);
  if (response instanceof Error) return { ok: false, problem: connectProblem(response, location, timeoutMs) };
  if (response.statusCode === 200) return succeed(response);
  const answer = await readBody(response, location);
  if (!answer.ok) return answer;
  const text = answer.value.toString("utf8");
  return { ok: false, problem: answerProblem(response.statusCode ?? 0, text, location) };
}

async function readBody(response: IncomingMessage, location: ApiLocation): Promise<CliResult<Buffer>> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer); // no encoding is set
    return succeed(Buffer.concat(chunks));
  } catch {
    return stop(exitCodes.failed, `Aperture on ${urlOf(location)} closed the connection early. Try again.`);
  }
}

function connectProblem(error: Error, location: ApiLocation, timeoutMs: number): CliProblem {
  const code = "code" in error ? `${error.code}` : error.message;
  const url = urlOf(location);
  if (code === "ETIMEDOUT") {
    const seconds = Math.round(timeoutMs / 1_000);
    return { exit: exitCodes.failed, message: `Aperture on ${url} did not answer within ${seconds} s.` };
  }
  if (code === "ECONNREFUSED") return { exit: exitCodes.stopped, message: notRunningText(url) };
  if (code.startsWith("HPE_")) return { exit: exitCodes.failed, message: notApertureText(url) };
  return { exit: exitCodes.stopped, message: `Cannot connect to Aperture on ${url} (${printable(code)}).` };
}

function notRunningText(url: string): string {
  return `Aperture is not running on ${url}. Start it with \`aperture up\`, or give its port with --port.`;
}

function notApertureText(url: string): string {
  return `The program that answers on ${url} is not Aperture. Choose another port with --port or APERTURE_PORT.`;
}

function answerProblem(status: number, body: string, location: ApiLocation): CliProblem {
  const error = errorIn(body);
  if (status === 401) return { exit: exitCodes.refused, message: tokenProblem(location) };
  if (error === null) return { exit: exitCodes.failed, message: notApertureText(urlOf(location)) };
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
    const { error } = JSON.parse(body) as Partial<ErrorAnswer>; // the next line checks it
    return typeof error?.code === "string" && typeof error.message === "string" ? error : null;
  } catch {
    return null;
  }
}

function tokenProblem(location: ApiLocation): string {
  const { token, from } = findToken(location);
  const fix = "Give its data directory with --data-dir, or its token in APERTURE_TOKEN.";
  return token === null
    ? `Aperture on ${urlOf(location)} requires its token, and there is none in ${from}. ${fix}`
    : `Aperture on ${urlOf(location)} rejected the token from ${from}. ${fix}`;
}

/** An IPv6 address stands in brackets. */
function urlOf({ host, port }: ApiLocation): string {
  return host.includes(":") ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}
