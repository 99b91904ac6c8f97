import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { authorityOf, isKnownHost } from "./hosts.ts";

const closeMaxMs = 2_000;

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly version: string;
  /** What `/readyz` says of the store: recording may be down while everything else works. */
  readonly storage: () => StorageHealth;
};
export type StorageHealth = { readonly storage: "ok" | "degraded"; readonly message: string | null };

export type RunningServer = {
  readonly url: string;
  readonly close: () => Promise<void>;
};

type Answer = { readonly status: number; readonly type: string; readonly body: string };

/** Rejects with the error of `listen`, for instance EADDRINUSE. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const page = welcome(options.version);
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    send(response, answer({ request, port, page, storage: options.storage }));
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: `http://${authorityOf(options.host, port)}`, close: () => close(server) };
}

type Asked = {
  readonly request: IncomingMessage;
  readonly port: number;
  readonly page: string;
  readonly storage: ServerOptions["storage"];
};

/** The Host check comes before any routing, so that no route can forget it. */
function answer(asked: Asked): Answer {
  const hosts = asked.request.headersDistinct["host"] ?? [];
  if (hosts.length !== 1 || !isKnownHost(hosts[0] ?? "", asked.port)) {
    return plain(421, "This server answers only under its loopback address.\n");
  }
  const path = (asked.request.url ?? "/").split("?", 1)[0];
  const route = routes[path ?? ""];
  if (route === undefined)
    return plain(404, `There is nothing here. Known: ${Object.keys(routes).join(", ")}\n`);
  const readable = asked.request.method === "GET" || asked.request.method === "HEAD";
  return readable ? route(asked) : plain(405, "Only GET is understood here.\n");
}

const routes: Readonly<Record<string, (asked: Asked) => Answer>> = {
  "/": ({ page }) => plain(200, page),
  "/healthz": () => json({ ok: true }),
  "/readyz": ({ storage }) => json({ ok: true, ...storage() }),
};

function json(value: unknown): Answer {
  return { status: 200, type: "application/json", body: JSON.stringify(value) };
}

function plain(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body };
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 405 ? { allow: "GET, HEAD" } : {}),
  });
  // Node leaves the body out by itself when the request was HEAD.
  response.end(body);
}

function welcome(version: string): string {
  return [
    `Aperture ${version}`,
    "",
    "Gives a language model explicit knowledge of its own context window,",
    "and the power to manage it together with its user.",
    "",
    "The model proxy and the panel are not part of this version yet.",
    "Health: /healthz and /readyz",
    "",
  ].join("\n");
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Idle connections end at once; requests in flight may finish, but a stuck one cannot hold the process. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), closeMaxMs).unref();
  });
}
