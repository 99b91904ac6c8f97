import { createServer, type ServerResponse } from "node:http";

/**
 * An upstream that reads a request without parsing it and answers with fixed server-sent events. It costs the
 * same for every target, so that differences come from the targets.
 */
const events = Array.from({ length: 32 }, (_, index) => {
  const delta = {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: `word ${index} ` },
  };
  return `event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`;
});
const usage = {
  input_tokens: 3,
  cache_read_input_tokens: 9_000,
  cache_creation_input_tokens: 70,
  output_tokens: 1,
};
const wire = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const opening = [
  wire("message_start", {
    message: { id: "msg_1", role: "assistant", model: "claude-x", content: [], usage },
  }),
  wire("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
].join("");
const ending = [
  wire("content_block_stop", { index: 0 }),
  wire("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 64 } }),
  wire("message_stop", {}),
].join("");

/** Every delta holds the time it was sent, by a clock that all processes of a machine share. */
const pacedDeltas = 40;
const paceMs = 5;

function answerPaced(response: ServerResponse): void {
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    response.write(`event: ping\ndata: {"sent":"${process.hrtime.bigint()}"}\n\n`);
    if (sent < pacedDeltas) return;
    clearInterval(timer);
    response.end(ending);
  }, paceMs);
}

const server = createServer({ noDelay: true, requestTimeout: 0 }, (request, response) => {
  request.resume();
  request.once("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    if (request.headers["x-bench-pace"] === "1") {
      answerPaced(response);
      return;
    }
    response.write(opening);
    for (const event of events) response.write(event);
    response.end(ending);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on("disconnect", () => process.exit(0));
