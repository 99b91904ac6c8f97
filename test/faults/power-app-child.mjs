// Aperture, a strict upstream, a client and a user in one process, so that one trace has everything in order.
//   node power-app-child.mjs FOLDER TURNS
// In every turn the model creates a memory, and the user pins and undoes. Acknowledged acts are written to a
// file: a seq once the control API has answered, a memory once the model's call has its result.
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { startApp } from "../../dist/cli/app/app.js";
import { startStrictUpstream } from "../../dist/testing/index.js";
import { settingsFor } from "../support/app-settings.mjs";

const [folder = "", turns = "1"] = process.argv.slice(2);
const said = openSync(join(folder, "said"), "a");
const say = (value) => writeSync(said, `${JSON.stringify(value)}\n`);

let turn = 0;
const note = () => `Shelf ${turn} holds ${turn * 7 + 3} books about river ${turn * 13}.`;
const create = () => ({ type: "tool_use", name: "aperture_note", input: { verb: "create", text: note() } });
const upstream = await startStrictUpstream({
  model: ({ messages }) => {
    const result = messages.at(-1).content.find(({ type }) => type === "tool_result");
    if (result === undefined) return { content: [create()] };
    if (!JSON.stringify(result).includes("not on disk yet")) say({ note: note() });
    return { content: [{ type: "text", text: `Noted, ${turn}.` }] };
  },
});
const app = await startApp({
  settings: settingsFor(new URL(upstream.url), folder),
  version: "0.0.0-test",
  deadlineMs: 20_000,
  notify: () => undefined,
});
const messages = [];
while (turn < Number(turns)) {
  turn += 1;
  await ask(`question ${turn}${turn === 1 ? `\n${"q7 x9 z4 w2 ".repeat(7_000)}` : ""}`);
  await act("ops", { command: { verb: "pin", target: "1" } });
  await act("undo", {});
}
await app.close();
await upstream.close();
closeSync(said);

async function ask(text) {
  messages.push({ role: "user", content: [{ type: "text", text }] });
  const tools = [{ name: "look", description: "looks", input_schema: { type: "object", properties: {} } }];
  const body = { model: "claude-opus-5-5", max_tokens: 900, tools, messages };
  const { content } = await post(`${app.url}/v1/messages`, body, {
    "x-api-key": "test-key-0123456789",
    "anthropic-version": "2023-06-01",
    "x-claude-code-session-id": "power",
  });
  messages.push({ role: "assistant", content });
}

async function act(route, body) {
  const { seq, durable } = await post(`${app.url}/api/v1/sessions/last/${route}`, body, {
    authorization: `Bearer ${app.token}`,
  });
  if (durable) say({ seq });
}

async function post(address, body, headers) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200) throw new Error(`${address} ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}
