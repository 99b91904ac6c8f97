// Agents that are no product of the provider, and a model that uses every verb: they notice nothing of it.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Agent, playAgent } from "./agent-story.ts";
import { expectEveryVerb, loggedBy } from "./hands-check.ts";
import { everyVerb, handsModel } from "./hands-script.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { startManagedRig } from "./managed-rig.ts";
import { runOpencode } from "./opencode.ts";
import { runPi } from "./pi.ts";

let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

const timeout = 180_000;
const headers = { "x-aperture-session": "a-name" };
const pageOf = (n: number): string =>
  Array.from({ length: 120 }, (_, line) => `page ${n}, line ${line}: ${"some words ".repeat(6)}`).join("\n");
const files = Object.fromEntries([1, 2, 3, 4].map((n) => [`page${n}.txt`, pageOf(n)]));

/** What a client calls the folder's files by, and its own tool that reads them. */
type Reading = { readonly name: string; readonly field: string };

async function play(agent: Agent, { name, field }: Reading): Promise<void> {
  let project = "";
  const stages = everyVerb((n) => ({
    type: "tool_use",
    name,
    input: { [field]: join(project, `page${n}.txt`) },
  }));
  const rig = await startManagedRig({ upstream: { model: handsModel(stages) }, deadlineMs: 20_000 });
  try {
    const { said, transcript } = await playAgent(agent, {
      url: rig.url,
      headers,
      files,
      prompts: (folder) => {
        project = folder;
        return stages.map((_, n) => `stage ${n}`);
      },
    });
    expect(said).toEqual(stages.map((_, n) => expect.stringMatching(new RegExp(`stage ${n} is done$`))));
    const logged = await loggedBy(rig.app);
    expectEveryVerb({ near: rig.near(), exchanges: rig.upstream.exchanges, logged, transcript });
  } finally {
    await rig.close();
  }
}

describe.concurrent("a model that uses every verb", () => {
  test("opencode", { timeout }, () =>
    play((run) => runOpencode(clients.opencode, run), { name: "read", field: "filePath" }),
  );
  test("pi", { timeout }, () => play((run) => runPi(clients.pi, run), { name: "read", field: "path" }));
});
