import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { ChildStatus } from "./child.ts";

/**
 * Minimal proxies for comparison: `bare` pipes both ways without reading anything; `parse` reads the whole
 * body, parses it and writes it again, as most proxies do.
 */
const [kind = "bare", upstream = "0"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, scheduling: "lifo", maxFreeSockets: 256, noDelay: true });

function forward(request: IncomingMessage, response: ServerResponse) {
  const { method, url, headers } = request;
  const options = { host: "127.0.0.1", port: Number(upstream), method, path: url, headers, agent };
  return send(options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
}

async function parseAndForward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString("utf8")));
  request.headers["content-length"] = String(Buffer.byteLength(body));
  forward(request, response).end(body);
}

const server = createServer({ noDelay: true, requestTimeout: 0 }, (request, response) => {
  if (kind === "parse") void parseAndForward(request, response);
  else request.pipe(forward(request, response));
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on("message", (query) => {
  if (query !== "status") return;
  const { user, system } = process.cpuUsage();
  const none = { waitingBytes: 0, missed: 0, requests: 0, managed: 0, loopMs: 0 };
  const status: ChildStatus = {
    ...none,
    rssBytes: process.memoryUsage().rss,
    cpuMs: (user + system) / 1_000,
  };
  process.send?.(status);
});
process.on("disconnect", () => process.exit(0));
