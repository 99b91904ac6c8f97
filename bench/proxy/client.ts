import { connect, type Socket } from "node:net";
import type { GrowingSession } from "./growing-session.ts";

const END = Buffer.from("0\r\n\r\n");

/**
 * One connection that is kept open, one request after the other, on a bare socket: an HTTP library would cost
 * more than what is measured. Measures the milliseconds from the first byte sent to the first byte received.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #port: number;
  #onData: (chunk: Buffer) => void = () => undefined;
  #onError: (error: Error) => void = () => undefined;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("error", (error) => this.#onError(error));
    socket.on("close", () => this.#onError(new Error("the connection was closed")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Connection(socket, port)));
    });
  }

  ask(session: GrowingSession): Promise<number> {
    return this.#send(session, [], () => undefined);
  }

  /** The delays of the deltas of one paced answer, in milliseconds. */
  async delays(session: GrowingSession): Promise<readonly number[]> {
    const delays: number[] = [];
    await this.#send(session, ["X-Bench-Pace: 1"], (chunk) => {
      const now = process.hrtime.bigint();
      for (const [, sent] of chunk.toString("latin1").matchAll(/"sent":"(\d+)"/g)) {
        delays.push(Number(now - BigInt(sent ?? "0")) / 1e6);
      }
    });
    return delays;
  }

  #send(
    session: GrowingSession,
    extraHeaders: readonly string[],
    onChunk: (chunk: Buffer) => void,
  ): Promise<number> {
    const body = session.nextBody();
    const head = [
      "POST /v1/messages?beta=true HTTP/1.1",
      `Host: 127.0.0.1:${this.#port}`,
      "Content-Type: application/json",
      "User-Agent: claude-cli/2.1.325 (external, sdk-cli)",
      `X-Claude-Code-Session-Id: ${session.id}`,
      "X-Api-Key: bench-key-0123456789",
      "Anthropic-Version: 2023-06-01",
      `X-Aperture-Session: ${session.id}`,
      ...extraHeaders,
      `Content-Length: ${body.length}`,
    ];
    return new Promise((resolve, reject) => {
      let firstMs: number | null = null;
      let tail = Buffer.alloc(0);
      this.#onError = reject;
      this.#onData = (chunk) => {
        firstMs ??= performance.now() - started;
        onChunk(chunk);
        tail = Buffer.concat([tail.subarray(-4), chunk.subarray(-8)]);
        if (tail.subarray(-5).equals(END)) resolve(firstMs);
      };
      const started = performance.now();
      this.#socket.cork();
      this.#socket.write(`${head.join("\r\n")}\r\n\r\n`);
      this.#socket.write(body);
      this.#socket.uncork();
    });
  }

  close(): void {
    this.#onError = () => undefined;
    this.#socket.destroy();
  }
}
