// A session as people have it: an agent looks for a bug, keeps notes, lets go of what it has read, and asks.
import { must } from "../../src/base/index.ts";
import type { ReplyBlock } from "../../src/testing/index.ts";
import type { Client } from "./client.ts";
import type { PanelRig } from "./rig.ts";

export type Story = { readonly session: string; readonly client: Client };

/** Its window has 200k tokens, so that a strip of it shows something. */
export const storyModel = "claude-opus-4-6";

export const text = (words: string): ReplyBlock => ({ type: "text", text: words });
export const think = (words: string): ReplyBlock => ({ type: "thinking", thinking: words });
export const call = (name: string, input: Readonly<Record<string, string>>): ReplyBlock => ({
  type: "tool_use",
  name,
  input,
});
const read = (path: string): ReplyBlock => call("read", { path });

/** Tells the whole story. The last act of its model waits for the user. */
export async function tellStory(rig: PanelRig, name = "fix-auth"): Promise<Story> {
  const client = await rig.client({ name, files, bulk: `Here is the log.\n${logLines(700)}` });
  const say = async (prompt: string): Promise<void> => {
    await client.say(prompt, { model: storyModel });
    await rig.recorded();
  };
  rig.script(
    [
      think("The session and the token are where a login could get lost."),
      text("I look at both sides of it."),
      read("src/auth/session.ts"),
      read("src/auth/token.ts"),
    ],
    [text("The refresh compares the token before it decodes it. I check what the tests say.")],
  );
  await say("Users are logged out when their token is refreshed. Find out why.");
  rig.script([read("test/auth.test.ts"), read("docs/auth.md")], [text("No test refreshes twice in a row.")]);
  await say("Why did the tests not find it?");
  const { id: session } = must((await rig.api<Sessions>("/sessions?limit=1")).rows[0], "there is one");
  const tests = await blockWith(rig, session, "tool-result", "auth.test.ts");
  const token = await blockWith(rig, session, "tool-result", "token.ts");
  const docs = await blockWith(rig, session, "tool-result", "auth.md");
  rig.script(
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
  await say("Keep what matters and go on.");
  rig.script(
    [call("aperture_manage", { verb: "compress", target: `${tests}`, level: "trimmed" })],
    [read("package.json")],
    [text("I decode first and compare then. The suite runs with `npm test`.")],
  );
  await say("Fix it.");
  await rig.api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
  rig.script(
    [
      call("aperture_archive", {
        target: `${await blockWith(rig, session, "tool-result", "session.ts")}`,
        reason: "session.ts is not part of the fix",
      }),
    ],
    [text("Done. I asked to let go of session.ts, which the fix does not touch.")],
  );
  await say("Is there anything left to do?");
  return { session, client };
}

type Sessions = { readonly rows: readonly { readonly id: string }[] };
type State = { readonly blocks: readonly { readonly n: number; readonly kind: string }[] };
type Labels = { readonly rows: readonly { readonly block: number; readonly label: string | null }[] };

/** The first block of a kind whose label holds the words. */
export async function blockWith(
  rig: PanelRig,
  session: string,
  ...[kind, words]: readonly [kind: string, words: string]
): Promise<number> {
  const { blocks } = await rig.api<State>(`/sessions/${session}/state`);
  const ofKind = blocks.filter((block) => block.kind === kind).map(({ n }) => n);
  const { rows } = await rig.api<Labels>(`/sessions/${session}/labels?blocks=${ofKind.join(",")}`);
  const found = rows.find(({ label }) => label?.includes(words) === true);
  return must(found, `there is a ${kind} about ${words}`).block;
}

function logLines(count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const second = `${Math.floor(at / 60) % 60}`.padStart(2, "0");
    const status = at % 9 === 4 ? "401 token mismatch" : "200 ok";
    return `09:${second}:${`${at % 60}`.padStart(2, "0")} POST /session/refresh user=${1_000 + ((at * 37) % 811)} ${status}`;
  }).join("\n");
}

/** Code enough that each file is worth a look at its size. */
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
