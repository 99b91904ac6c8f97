// Bodies that would change if they were parsed and written again: their odd parts arrive byte for byte.
import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, ask, modelHeaders, startTestApp, type TestApp } from "../support/app.ts";

let upstream: Server;
let app: TestApp;
let sent: Buffer[] = [];

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      sent.push(Buffer.concat(chunks));
      response.writeHead(200, { "content-type": "application/json" }).end(answerTo(sent.length));
    });
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  app = await startTestApp(`http://127.0.0.1:${port}`, { mode: "auto", deadlineMs: 5_000 });
});
afterAll(async () => {
  await app.remove();
  upstream.close();
});

function answerTo(n: number): string {
  return JSON.stringify({
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model: "claude-opus-4-6",
    content: [{ type: "text", text: "So it is." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 3 },
  });
}

const answer = Buffer.from('{"role":"assistant","content":[{"type":"text","text":"So it is."}]}');
const head =
  '{"model":"claude-opus-4-6","max_tokens":1000,"tools":[{"name":"look","description":"looks","input_schema":' +
  '{"type":"object"}}],"system":"You are an agent.","messages":[';

/** A conversation with one of these blocks per turn, each answered. */
function bodyOf(blocks: readonly Buffer[]): Buffer {
  const messagesOfUser = blocks.map((block) =>
    Buffer.concat([Buffer.from('{"role":"user","content":['), block, Buffer.from("]}")]),
  );
  const parts = messagesOfUser.flatMap((message, at) => (at === 0 ? [message] : [answer, message]));
  const comma = Buffer.from(",");
  const messages = parts.flatMap((part, at) => (at === 0 ? [part] : [comma, part]));
  return Buffer.concat([Buffer.from(head), ...messages, Buffer.from("]}")]);
}

const plain = (words: string): Buffer => Buffer.from(JSON.stringify({ type: "text", text: words }));
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const odd = (rest: string): Buffer => Buffer.from(`{"type":"text","text":"odd"${rest}}`);

const odds: readonly (readonly [string, Buffer])[] = [
  ["bytes that are no UTF-8", Buffer.from('{"type":"text","text":"caf\xff\xfe"}', "latin1")],
  ["half a sign", Buffer.from('{"type":"text","text":"half \\ud83d here"}')],
  ["the same key twice", Buffer.from('{"type":"text","text":"one","text":"two"}')],
  ["a number beyond what is exact", odd(',"n":12345678901234567890')],
  ["numbers in other forms", odd(',"n":[1.0,1e2,-0,1E+2]')],
  ["keys that look like numbers", odd(',"n":{"2":1,"1":2}')],
  ["needless escapes", Buffer.from('{"type":"text","text":"\\u00e9\\/ \\u0041"}')],
  ["blanks", Buffer.from('{ "type" :\t"text" ,\n"text": "odd" }')],
  ["a hundred levels", odd(`,"n":${nested(100)}`)],
];

describe("a managed session", () => {
  const playSession = async (name: string, block: Buffer) => {
    sent = [];
    const headers = { ...modelHeaders, "x-aperture-session": name.replaceAll(" ", "-") };
    const turns = [[plain("first")], [plain("first"), block], [plain("first"), block, plain("third")]];
    const answers: Answer[] = [];
    for (const blocks of turns) {
      answers.push(await ask(`${app.url}/v1/messages`, { headers, body: bodyOf(blocks) }));
      await app.recorded();
    }
    expect(answers.map(({ status, isWhole }) => [status, isWhole])).toEqual(turns.map(() => [200, true]));
    expect(sent).toHaveLength(turns.length);
    expect(sent.map((body) => body.includes(block))).toEqual([false, true, true]);
    return { bodies: turns.map(bodyOf), block };
  };

  it.each(odds)("with %s stays managed, and our notes are valid UTF-8", async (name, block) => {
    await playSession(name, block);
    for (const body of sent) {
      expect(body.includes("aperture_read")).toBe(true);
      const at = body.indexOf(block);
      const ours = at === -1 ? [body] : [body.subarray(0, at), body.subarray(at + block.length)];
      expect(ours.map((part) => [isUtf8(part), /\ufffd|\\ud8/.test(part.toString())])).toEqual(
        ours.map(() => [true, false]),
      );
    }
  });

  it.each([511, 513, 5_000, 200_000])("with %i levels passes unchanged", async (depth) => {
    const { bodies } = await playSession(`${depth} levels`, odd(`,"n":${nested(depth)}`));
    expect(sent.slice(1).map((body, at) => body.equals(bodies[at + 1] ?? Buffer.alloc(0)))).toEqual([
      true,
      true,
    ]);
  });
});
