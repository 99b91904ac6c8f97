import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A web server of another origin on this machine. */
export type ForeignSite = {
  readonly port: number;
  /** The cookies the browser sent to it. */
  readonly cookies: readonly string[];
  readonly close: () => Promise<void>;
};

export async function startForeignSite(): Promise<ForeignSite> {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>foreign site</title><h1>A page of another origin</h1>");
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
