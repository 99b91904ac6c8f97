import { connect, type Socket } from "node:net";
import type { Talk } from "./talk.ts";

const END = Buffer.from("0\r\n\r\n");

/**
 * One connection, kept open, one request after the other, on a bare socket: an HTTP library would cost more
 * than what is measured. Gives the milliseconds from the first byte sent to the first byte back.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #port: number;
  #heard: (chunk: Buffer) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on("data", (chunk: Buffer) => this.#heard(chunk));
    socket.on("error", (error) => this.#failed(error));
    socket.on("close", () => this.#failed(new Error("the connection was closed")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Connection(socket, port)));
    });
  }

  ask(talk: Talk): Promise<number> {
    return this.#send(talk, [], () => undefined);
  }

  /** The delays of the deltas of one paced answer, in milliseconds. */
  async delays(talk: Talk): Promise<readonly number[]> {
    const delays: number[] = [];
    await this.#send(talk, ["X-Bench-Pace: 1"], (chunk) => {
      const now = process.hrtime.bigint();
      for (const [, sent] of chunk.toString("latin1").matchAll(/"sent":"(\d+)"/g)) {
        delays.push(Number(now - BigInt(sent ?? "0")) / 1e6);
      }
    });
    return delays;
  }

  #send(talk: Talk, more: readonly string[], seen: (chunk: Buffer) => void): Promise<number> {
    const body = talk.next();
    const head = [
      "POST /v1/messages?beta=true HTTP/1.1",
      `Host: 127.0.0.1:${this.#port}`,
      "Content-Type: application/json",
      "User-Agent: claude-cli/2.1.325 (external, sdk-cli)",
      `X-Claude-Code-Session-Id: ${talk.id}`,
      "X-Api-Key: bench-key-0123456789",
      "Anthropic-Version: 2023-06-01",
      `X-Aperture-Session: ${talk.id}`,
      ...more,
      `Content-Length: ${body.length}`,
    ];
    return new Promise((resolve, reject) => {
      let firstMs: number | null = null;
      let tail = Buffer.alloc(0);
      this.#failed = reject;
      this.#heard = (chunk) => {
        firstMs ??= performance.now() - started;
        seen(chunk);
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
    this.#failed = () => undefined;
    this.#socket.destroy();
  }
}
