import { connect } from "node:net";
import { loopbackHosts } from "../config/index.ts";

const listenMs = 500;

export function isLoopback({ hostname }: URL): boolean {
  return loopbackHosts.includes(bare(hostname));
}

export function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Null if the address accepts connections, else the error code. */
export function connectProblem(url: URL, timeoutMs = listenMs): Promise<string | null> {
  return new Promise((done) => {
    const socket = connect({ host: bare(url.hostname), port: portOf(url) });
    const end = (problem: string | null) => {
      socket.destroy();
      done(problem);
    };
    socket.setTimeout(timeoutMs, () => end("ETIMEDOUT"));
    socket.once("connect", () => end(null));
    socket.once("error", (error) => end("code" in error ? `${error.code}` : error.message));
  });
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

export function isLoopbackUrl(text: string): boolean {
  return URL.canParse(text) && isLoopback(new URL(text));
}
