import type { Server } from "node:http";
import type { Socket } from "node:net";

/** All connections: one that has not sent a byte yet is not idle to node, and would be waited for. */
export function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

type Draining = {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly drainMs: number;
};

/** How often connections are closed whose last answer went out before the server was told to stop. */
const idleCheckMs = 25;

/** Idle connections end at once; requests in flight may finish, but a stuck one cannot hold the process. */
export async function drain({ server, sockets, drainMs }: Draining): Promise<void> {
  const closeIdle = (): void => {
    server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  closeIdle();
  const checks = setInterval(closeIdle, idleCheckMs);
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(checks);
  clearTimeout(deadline);
}
