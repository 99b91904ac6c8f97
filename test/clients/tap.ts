import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { headerOf, requestsIn, responsesIn, statusOf, type WirePart } from "./wire-bytes.ts";

/** One request and its answer, as the bytes went over one connection. */
export type Exchange = {
  readonly method: string;
  readonly target: string;
  readonly request: WirePart;
  /** Null if the connection ended without an answer. */
  readonly response: WirePart | null;
  readonly status: number | null;
};

export type Tap = {
  readonly url: string;
  /** In the order in which the requests began. */
  readonly exchanges: () => readonly Exchange[];
  readonly close: () => Promise<void>;
};

type Chunk = { readonly order: number; readonly bytes: Buffer };
type Connection = { readonly up: Chunk[]; readonly down: Chunk[] };

/**
 * Passes bytes on unread and keeps a copy. It parses HTTP only afterwards, so it cannot change any. It asks
 * for the target with every connection, because a tap may start before its target.
 */
export async function startTap(targetUrl: () => string): Promise<Tap> {
  const connections: Connection[] = [];
  const sockets = new Set<Socket>();
  let order = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const { hostname, port } = new URL(targetUrl());
    const target = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection: Connection = { up: [], down: [] };
    connections.push(connection);
    pass({ from: client, to: target }, (bytes) => connection.up.push({ order: order++, bytes }));
    pass({ from: target, to: client }, (bytes) => connection.down.push({ order: order++, bytes }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a TCP port has an address with that port.
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${ownPort}`,
    exchanges: () => connections.flatMap(exchangesOf).sort((a, b) => a.order - b.order),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };

  function pass(
    { from, to }: { readonly from: Socket; readonly to: Socket },
    keep: (bytes: Buffer) => void,
  ): void {
    sockets.add(from);
    from.on("data", (bytes: Buffer) => {
      keep(bytes);
      to.write(bytes);
    });
    from.on("end", () => to.end());
    from.on("error", () => to.destroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }
}

function exchangesOf(connection: Connection): readonly (Exchange & { readonly order: number })[] {
  const requests = requestsIn(Buffer.concat(connection.up.map(({ bytes }) => bytes)));
  const methods = requests.map(({ startLine }) => startLine.split(" ")[0] ?? "");
  const responses = responsesIn(Buffer.concat(connection.down.map(({ bytes }) => bytes)), methods);
  return requests.map((request, index) => {
    const [method = "", target = ""] = request.startLine.split(" ");
    const response = responses[index] ?? null;
    const status = response === null ? null : statusOf(response.startLine);
    return { order: orderAt(connection.up, request.offset), method, target, request, response, status };
  });
}

function orderAt(chunks: readonly Chunk[], offset: number): number {
  let end = 0;
  for (const { order, bytes } of chunks) {
    end += bytes.length;
    if (offset < end) return order;
  }
  return Number.POSITIVE_INFINITY;
}

export function bodyOf(exchange: Exchange): Readonly<Record<string, unknown>> | null {
  if (headerOf(exchange.request, "content-type") !== "application/json") return null;
  // A JSON body of these APIs is an object; a missing field reads as undefined.
  return JSON.parse(exchange.request.body.toString("utf8")) as Record<string, unknown>;
}
