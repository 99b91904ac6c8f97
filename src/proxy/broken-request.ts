import type { Duplex } from "node:stream";
import { apertureError } from "../base/index.ts";
import { errorBody, ownHeaders } from "./failures.ts";

type Broken = {
  readonly error: NodeJS.ErrnoException;
  readonly socket: Duplex;
  /** An answer is being written on this connection, or its last one was. */
  readonly busy: boolean;
};

/**
 * What could not be read as HTTP is answered once and never relayed. The connection ends here in any case:
 * nobody can tell where the next request would begin.
 */
export function answerBrokenRequest({ error, socket, busy }: Broken): void {
  // Bytes after a last request are not read, and the answer to that request may still be on its way.
  if (error.code === "HPE_CLOSED_CONNECTION" && busy) return;
  if (busy || !socket.writable || endings.has(error.code ?? "")) {
    socket.destroy();
    return;
  }
  const { status, reason, problem } = kindOf(error.code ?? "");
  const refusal = { status, error: apertureError("AP_REQUEST_MALFORMED", { problem }) };
  const body = errorBody(refusal, "", "openai");
  const headers = {
    ...ownHeaders,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`, () => socket.destroy());
}

/** Errors after which there is nobody, or nothing, to answer. */
const endings: ReadonlySet<string> = new Set(["ECONNRESET", "HPE_CLOSED_CONNECTION"]);

function kindOf(code: string): {
  readonly status: number;
  readonly reason: string;
  readonly problem: string;
} {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, reason: "Request Header Fields Too Large", problem: "its headers are too large" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, reason: "Request Timeout", problem: "its headers did not arrive in time" };
    default:
      return { status: 400, reason: "Bad Request", problem: "it is not valid HTTP" };
  }
}
