import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A web page of somebody else, on this machine, under whatever names the browser takes for it. */
export type Stranger = {
  readonly port: number;
  /** The cookies it was sent. */
  readonly cookies: readonly string[];
  readonly close: () => Promise<void>;
};

export async function startStranger(): Promise<Stranger> {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>stranger</title><h1>A page of somebody else</h1>");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    port,
    cookies,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
