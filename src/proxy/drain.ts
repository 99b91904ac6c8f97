import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Tracks all connections: Node does not count one without any bytes as idle, and would wait for it. */
export function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

type DrainOptions = {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly drainMs: number;
};

/** How often connections are closed that have become idle since. */
const idleCheckMs = 25;

/** Closes idle connections at once, lets active requests finish, and cuts those that take too long. */
export async function drain({ server, sockets, drainMs }: DrainOptions): Promise<void> {
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
