// A bot behind HTTP. Each user has a conversation of their own with it, kept in a file if one is given.
//
//   node examples/http-bot.mjs --port 8080 --file bot.db
//   curl localhost:8080/say -d '{"user": "bob", "text": "hello"}'
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { anthropicProvider, createSpace, scriptedProvider, withRetries } from "aperture/runtime";

const { values } = parseArgs({ options: { port: { type: "string" }, file: { type: "string" } } });

/** Counts the messages of this user so far. */
const scripted = scriptedProvider(({ messages }) => {
  const headers = JSON.stringify(messages).match(/\[\w+ user, message/g) ?? [];
  return `This is number ${headers.length} of what you have told me.`;
});

const { ANTHROPIC_API_KEY: key, MODEL: model = "claude-sonnet-5" } = process.env;
const space = await createSpace({
  name: "bot",
  ...(values.file && { path: values.file }),
  agents: [
    {
      name: "bot",
      system: "You answer in one or two sentences.",
      provider: key ? withRetries(anthropicProvider({ apiKey: key })) : scripted,
      model,
    },
  ],
});

/** @type {Map<string, Promise<unknown>>} */
const turns = new Map();

/**
 * Gets the bot's answer. Requests of one user wait for each other, so that each gets its own answer.
 * @param {string} user
 * @param {string} text
 */
function answer(user, text) {
  const turn = (turns.get(user) ?? Promise.resolve()).then(() => ask(user, text));
  const ended = turn.then(
    () => undefined,
    () => undefined,
  );
  turns.set(user, ended);
  void ended.then(() => turns.get(user) === ended && turns.delete(user));
  return turn;
}

/**
 * @param {string} user
 * @param {string} text
 */
async function ask(user, text) {
  const stream = space.stream(`user ${user}`);
  /** @type {string[]} */
  const texts = [];
  const stopListening = [
    space.on("said", (message) => {
      if (message.stream === stream.name && message.speaker === "bot") texts.push(message.text);
    }),
    space.on("notice", (notice) => {
      if (notice.stream === stream.name) texts.push(notice.text);
    }),
  ];
  await stream.say("user", text);
  await stream.activate("bot");
  for (const stop of stopListening) stop();
  return texts.join("\n");
}

const server = createServer(async (request, response) => {
  /** @type {(status: number, body: object) => void} */
  const reply = (status, body) =>
    response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
  try {
    if (request.method !== "POST" || request.url !== "/say") return reply(404, { error: "POST /say" });
    const { user, text } = await bodyOf(request);
    if (typeof user !== "string" || typeof text !== "string") {
      return reply(400, { error: "user and text, please" });
    }
    reply(200, { answer: await answer(user, text) });
  } catch (error) {
    reply(error instanceof SyntaxError ? 400 : 500, { error: String(error) });
  }
});

/** @param {import("node:http").IncomingMessage} request */
async function bodyOf(request) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > 100_000) throw new SyntaxError("that is too long");
  }
  return JSON.parse(body);
}

server.listen(Number(values.port ?? 0), "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`listening on http://127.0.0.1:${port}`);
});

// New requests are refused, waiting ones get their answers, and the file is closed.
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, () => {
    server.close(async () => {
      await space.close();
      console.log("closed");
    });
    server.closeIdleConnections();
  });
}
