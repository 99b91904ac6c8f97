import type { ErrorAnswer } from "./contract.ts";

/** A failed call: the server's error code, or `unreachable` if there was no response. */
export class CallError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.name = "CallError";
    this.code = code;
    this.status = status;
  }

  get isLoggedOut(): boolean {
    return this.status === 401;
  }
}

type CallOptions = { readonly method: "GET" | "POST" | "PUT" | "DELETE"; readonly body?: unknown };

export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return await call<T>(path, { method: "GET" }, signal);
}

export async function write<T>(method: "POST" | "PUT" | "DELETE", path: string, body: unknown): Promise<T> {
  return await call<T>(path, { method, body });
}

export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await send(path, { method: "GET" }, signal);
  if (!response.ok) throw await errorOf(response);
  return await response.text();
}

async function call<T>(path: string, options: CallOptions, signal?: AbortSignal): Promise<T> {
  const response = await send(path, options, signal);
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as T;
}

/** Pages of other origins cannot set the CSRF header; see "Who may ask" in the API reference. */
async function send(path: string, { method, body }: CallOptions, signal?: AbortSignal): Promise<Response> {
  const writes =
    method === "GET"
      ? {}
      : {
          headers: { "content-type": "application/json", "x-aperture-csrf": "1" },
          body: JSON.stringify(body),
        };
  try {
    return await fetch(`/api/v1${path}`, { method, ...writes, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new CallError(
      "unreachable",
      "Aperture does not answer. Check that it is running: aperture status",
      0,
    );
  }
}

async function errorOf(response: Response): Promise<CallError> {
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return new CallError(error.code, error.message, response.status);
  } catch {
    return new CallError(
      "unreadable",
      `Aperture sent an unreadable response (${response.status}).`,
      response.status,
    );
  }
}

/** The message of any thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
