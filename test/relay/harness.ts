// Upstreams and clients for tests of the relay.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from "node:net";
import {
  joinedCopy,
  type Pieces,
  type RequestCopy,
  type ResponseCopy,
  type SentRequest,
} from "../../src/exchange/index.ts";
import { type RunningProxy, startProxy } from "../../src/proxy/index.ts";
import type { ProxyOptions } from "../../src/proxy/options.ts";

export type SeenRequest = {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  readonly body: Buffer;
};

export type AnswerHandler = (seen: SeenRequest, response: ServerResponse) => void;

export type TestUpstream = {
  readonly url: URL;
  readonly seen: SeenRequest[];
  /** Connections that were ever opened. */
  readonly openedCount: () => number;
  /** Connections that are open now. */
  readonly openCount: () => number;
  readonly close: () => Promise<void>;
};

/** An upstream that reads a whole request before it answers. */
export async function startUpstream(answer: AnswerHandler): Promise<TestUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer(
    { keepAliveTimeout: 60_000, maxHeaderSize: 128 * 1024 },
    (incoming, response) => {
      void bodyOf(incoming).then((body) => {
        const { method = "", url = "", rawHeaders, rawTrailers } = incoming;
        const seenRequest = { method, url, rawHeaders, rawTrailers, body };
        seen.push(seenRequest);
        answer(seenRequest, response);
      }, ignore);
    },
  );
  return { seen, ...(await serve(server)) };
}

/** An upstream that works on raw connections. */
export async function startSocketUpstream(onConnection: (socket: Socket) => void): Promise<TestUpstream> {
  const server = createSocketServer((socket) => {
    socket.on("error", ignore);
    onConnection(socket);
  });
  return { seen: [], ...(await serve(server)) };
}

async function serve(
  server: Server | ReturnType<typeof createSocketServer>,
): Promise<Omit<TestUpstream, "seen">> {
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
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    openedCount: () => opened,
    openCount: () => sockets.size,
    close,
  };
}

export type TestRelay = {
  readonly proxy: RunningProxy;
  readonly requests: RequestCopy[];
  readonly resends: { readonly id: string; readonly sent: SentRequest | null }[];
  readonly responses: ResponseCopy[];
};

export async function startRelay(upstream: URL, options: Partial<ProxyOptions> = {}): Promise<TestRelay> {
  const requests: RequestCopy[] = [];
  const resends: { readonly id: string; readonly sent: SentRequest | null }[] = [];
  const responses: ResponseCopy[] = [];
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
    planner: null,
    recorder: {
      recordRequest: (copy) => requests.push(plainCopy(copy)),
      recordResend: (id, sent) => resends.push({ id, sent }),
      recordResponse: (copy) => responses.push(plainCopy(copy)),
    },
    credentialKey: new Uint8Array(32).fill(1),
    handleOwn: (_request, response) => response.end("own"),
    isOwnPath: (path) => path === "/" || path.startsWith("/api/v1"),
    ...options,
  });
  return { proxy, requests, resends, responses };
}

export type RequestOptions = {
  readonly port: number;
  readonly method?: string;
  readonly path?: string;
  /** Names and values in turn; the Host header is added in front. */
  readonly headers?: readonly string[];
  readonly body?: Uint8Array | readonly Uint8Array[];
};

export type ReceivedAnswer = {
  readonly status: number;
  readonly message: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage["headers"];
  readonly rawTrailers: readonly string[];
  readonly body: Buffer;
};

/** Rejects if there is no answer, or it breaks off. */
export function sendRequest({
  port,
  method = "POST",
  path = "/v1/messages",
  headers = [],
  body,
}: RequestOptions): Promise<ReceivedAnswer> {
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

export function postJson(port: number, path: string, body: Uint8Array): Promise<ReceivedAnswer> {
  return sendRequest({ port, path, headers: json(body.length), body });
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

/** Writes bytes and returns everything that came back until the connection ended or the time was up. */
export function sendBytes(port: number, bytes: string, waitMs = 60_000): Promise<string> {
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

/** Waits for as long as it takes; the guard of the suite ends a test that waits in vain. */
export async function until(what: () => boolean): Promise<void> {
  while (!what()) await pause(2);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export function ignore(): void {
  // Connections in these tests break on purpose.
}

/** Copies the body into plain bytes, so that tests can compare it. */
function plainCopy<C extends { readonly body: Pieces | null }>(copy: C) {
  const joined = joinedCopy(copy);
  return { ...joined, body: joined.body === null ? null : Uint8Array.from(joined.body) };
}
