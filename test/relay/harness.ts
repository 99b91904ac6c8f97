// What the relay is tested between: upstreams made of node's own parts, and clients that write bytes.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from "node:net";
import { type ProxyOptions, type RunningProxy, startProxy } from "../../src/proxy/index.ts";
import {
  joinedCopy,
  type Pieces,
  type RequestCopy,
  type ResponseCopy,
  type SentReport,
} from "../../src/session/index.ts";

export type Seen = {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  readonly body: Buffer;
};

export type Answerer = (seen: Seen, response: ServerResponse) => void;

export type Upstream = {
  readonly url: URL;
  readonly seen: Seen[];
  /** Connections that were opened, ever. */
  readonly opened: () => number;
  /** Connections that are open now. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
};

/** An upstream that reads a whole request before it answers. */
export async function startUpstream(answer: Answerer): Promise<Upstream> {
  const seen: Seen[] = [];
  const server = createServer(
    { keepAliveTimeout: 60_000, maxHeaderSize: 128 * 1024 },
    (incoming, response) => {
      void bodyOf(incoming).then((body) => {
        const { method = "", url = "", rawHeaders, rawTrailers } = incoming;
        const whole = { method, url, rawHeaders, rawTrailers, body };
        seen.push(whole);
        answer(whole, response);
      }, ignore);
    },
  );
  return { seen, ...(await serve(server)) };
}

/** An upstream that is handed the bare connections. */
export async function startSocketUpstream(take: (socket: Socket) => void): Promise<Upstream> {
  const server = createSocketServer((socket) => {
    socket.on("error", ignore);
    take(socket);
  });
  return { seen: [], ...(await serve(server)) };
}

async function serve(
  server: Server | ReturnType<typeof createSocketServer>,
): Promise<Omit<Upstream, "seen">> {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on("connection", (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { url: new URL(`http://127.0.0.1:${port}`), opened: () => opened, open: () => sockets.size, close };
}

export type Relay = {
  readonly proxy: RunningProxy;
  readonly requested: RequestCopy[];
  readonly resent: { readonly id: string; readonly sent: SentReport | null }[];
  readonly answered: ResponseCopy[];
};

export async function startRelay(upstream: URL, options: Partial<ProxyOptions> = {}): Promise<Relay> {
  const requested: RequestCopy[] = [];
  const resent: { readonly id: string; readonly sent: SentReport | null }[] = [];
  const answered: ResponseCopy[] = [];
  const proxy = await startProxy({
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    upstreams: {
      anthropic: upstream,
      openai: upstream,
      gemini: upstream,
      bedrock: upstream,
      named: new Map([["mine", new URL("/base/", upstream)]]),
    },
    relayToken: null,
    desk: null,
    recorder: {
      requested: (copy) => requested.push(plainCopy(copy)),
      resent: (id, sent) => resent.push({ id, sent }),
      answered: (copy) => answered.push(plainCopy(copy)),
    },
    credentialKey: new Uint8Array(32).fill(1),
    own: (_request, response) => response.end("own"),
    ownPaths: (path) => path === "/" || path.startsWith("/api/v1"),
    ...options,
  });
  return { proxy, requested, resent, answered };
}

export type Asking = {
  readonly port: number;
  readonly method?: string;
  readonly path?: string;
  /** Names and values in turn; the Host header is put in front. */
  readonly headers?: readonly string[];
  readonly body?: Uint8Array | readonly Uint8Array[];
};

export type Answer = {
  readonly status: number;
  readonly message: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage["headers"];
  readonly rawTrailers: readonly string[];
  readonly body: Buffer;
};

/** Rejects if the answer does not come, or does not come to its end. */
export function ask({
  port,
  method = "POST",
  path = "/v1/messages",
  headers = [],
  body,
}: Asking): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = ["Host", `127.0.0.1:${port}`, ...headers];
    const outgoing = request(
      { host: "127.0.0.1", port, method, path, headers: all, agent: false },
      (incoming) => {
        bodyOf(incoming).then((bytes) => {
          const { statusCode = 0, statusMessage = "", rawHeaders, rawTrailers } = incoming;
          resolve({
            status: statusCode,
            message: statusMessage,
            rawHeaders,
            headers: incoming.headers,
            rawTrailers,
            body: bytes,
          });
        }, reject);
      },
    );
    outgoing.on("error", reject);
    for (const chunk of body === undefined ? [] : body instanceof Uint8Array ? [body] : body)
      outgoing.write(chunk);
    outgoing.end();
  });
}

export const json = (length: number | string) => [
  "Content-Type",
  "application/json",
  "Content-Length",
  String(length),
];

export function postJson(port: number, path: string, body: Uint8Array): Promise<Answer> {
  return ask({ port, path, headers: json(body.length), body });
}

export function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("error", reject);
    incoming.on("close", () => {
      if (incoming.complete) resolve(Buffer.concat(chunks));
      else reject(new Error("the message broke off"));
    });
  });
}

/** Writes bytes and answers with all that came back until the connection ended, or the time was up. */
export function speak(port: number, bytes: string, waitMs = 5_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", ignore);
    socket.once("close", () => resolve(text));
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.once("close", () => clearTimeout(timer));
    socket.write(Buffer.from(bytes, "latin1"));
  });
}

export async function until(what: () => boolean, maxMs = 5_000): Promise<number> {
  const started = performance.now();
  while (!what()) {
    if (performance.now() - started > maxMs) throw new Error(`it did not happen within ${maxMs} ms: ${what}`);
    await pause(2);
  }
  return performance.now() - started;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export function ignore(): void {
  // Connections in these tests break on purpose.
}

/** In plain bytes, so that tests can compare what they read with what they wrote. */
function plainCopy<C extends { readonly body: Pieces | null }>(copy: C) {
  const joined = joinedCopy(copy);
  return { ...joined, body: joined.body === null ? null : Uint8Array.from(joined.body) };
}
