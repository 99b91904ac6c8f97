// A typical session: an agent finds a bug, creates a memory, archives files, and asks for approval.
import { must } from "../../src/base/index.ts";
import type { ReplyBlock } from "../../src/testing/index.ts";
import type { Client } from "./client.ts";
import type { PanelSetup } from "./panel-setup.ts";

export type SampleSession = { readonly session: string; readonly client: Client };

/** A model with a window of 200k tokens, so that the strip is not empty. */
export const sampleModel = "claude-opus-4-6";

export const text = (content: string): ReplyBlock => ({ type: "text", text: content });
export const think = (content: string): ReplyBlock => ({ type: "thinking", thinking: content });
export const call = (name: string, input: Readonly<Record<string, string>>): ReplyBlock => ({
  type: "tool_use",
  name,
  input,
});
const read = (path: string): ReplyBlock => call("read", { path });

/** Plays the whole session. The last command of the model waits for approval. */
export async function createSampleSession(setup: PanelSetup, name = "fix-auth"): Promise<SampleSession> {
  const client = await setup.client({ name, files, bulk: `Here is the log.\n${logLines(700)}` });
  const send = async (prompt: string): Promise<void> => {
    await client.send(prompt, { model: sampleModel });
    await setup.recorded();
  };
  setup.script(
    [
      think("The session and the token are where a login could get lost."),
      text("I look at both sides of it."),
      read("src/auth/session.ts"),
      read("src/auth/token.ts"),
    ],
    [text("The refresh compares the token before it decodes it. I check what the tests say.")],
  );
  await send("Users are logged out when their token is refreshed. Find out why.");
  setup.script(
    [read("test/auth.test.ts"), read("docs/auth.md")],
    [text("No test refreshes twice in a row.")],
  );
  await send("Why did the tests not find it?");
  const { id: session } = must(
    (await setup.api<Sessions>("/sessions?limit=1")).rows[0],
    "the session is recorded",
  );
  const tests = await blockWith(setup, session, "tool-result", "auth.test.ts");
  const token = await blockWith(setup, session, "tool-result", "token.ts");
  const docs = await blockWith(setup, session, "tool-result", "auth.md");
  setup.script(
    [
      call("aperture_manage", { verb: "pin", target: `${token}` }),
      call("aperture_note", {
        verb: "create",
        topic: "refresh bug",
        text: "token.ts compares the encoded token with the decoded one: refresh() always fails the second time.",
      }),
    ],
    [call("aperture_archive", { target: `${docs}`, reason: "the page says nothing of refreshing" })],
    [text("The cause is in token.ts; I have noted it and let go of the documentation.")],
  );
  await send("Keep what matters and go on.");
  setup.script(
    [call("aperture_manage", { verb: "compress", target: `${tests}`, level: "trimmed" })],
    [read("package.json")],
    [text("I decode first and compare then. The suite runs with `npm test`.")],
  );
  await send("Fix it.");
  await setup.api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
  setup.script(
    [
      call("aperture_archive", {
        target: `${await blockWith(setup, session, "tool-result", "session.ts")}`,
        reason: "session.ts is not part of the fix",
      }),
    ],
    [text("Done. I asked to let go of session.ts, which the fix does not touch.")],
  );
  await send("Is there anything left to do?");
  return { session, client };
}

type Sessions = { readonly rows: readonly { readonly id: string }[] };
type State = { readonly blocks: readonly { readonly n: number; readonly kind: string }[] };
type Labels = { readonly rows: readonly { readonly block: number; readonly label: string | null }[] };

/** The number of the first block of a kind whose label contains the words. */
export async function blockWith(
  setup: PanelSetup,
  session: string,
  ...[kind, words]: readonly [kind: string, words: string]
): Promise<number> {
  const { blocks } = await setup.api<State>(`/sessions/${session}/state`);
  const ofKind = blocks.filter((block) => block.kind === kind).map(({ n }) => n);
  const { rows } = await setup.api<Labels>(`/sessions/${session}/labels?blocks=${ofKind.join(",")}`);
  const found = rows.find(({ label }) => label?.includes(words) === true);
  return must(found, `there is a ${kind} about ${words}`).block;
}

type Requests = { readonly rows: readonly { readonly id: number; readonly relation: string }[] };

/** The number of the last request that extends the one before it. */
export async function managedRequest(setup: PanelSetup, session: string): Promise<number> {
  const { rows } = await setup.api<Requests>(`/sessions/${session}/requests?limit=1000`);
  const found = rows.findLast(({ relation }) => relation === "append");
  return must(found, "the client sent several turns").id;
}

function logLines(count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const second = `${Math.floor(at / 60) % 60}`.padStart(2, "0");
    const status = at % 9 === 4 ? "401 token mismatch" : "200 ok";
    return `09:${second}:${`${at % 60}`.padStart(2, "0")} POST /session/refresh user=${1_000 + ((at * 37) % 811)} ${status}`;
  }).join("\n");
}

/** Generated code, long enough that the file is a large block. */
function code(name: string, count: number): string {
  const functions = Array.from({ length: count }, (_, at) => [
    `export function ${name}Step${at}(input: ${name === "token" ? "Token" : "Session"}): boolean {`,
    `  const age = input.issuedAt + ${at * 60} - clock.now();`,
    `  if (age < 0) throw new Error("${name} ${at} has expired");`,
    `  return input.value === expected.get(${at});`,
    "}",
  ]);
  return functions.map((lines) => lines.join("\n")).join("\n\n");
}

const files = {
  "src/auth/session.ts": code("session", 90),
  "src/auth/token.ts": code("token", 140),
  "test/auth.test.ts": code("test", 220),
  "docs/auth.md": `# Logging in\n\n${logLines(160)}`,
  "package.json": JSON.stringify({ name: "shop", scripts: { test: "vitest run" } }, null, 2),
};
