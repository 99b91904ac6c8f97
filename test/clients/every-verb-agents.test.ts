// Agents of other vendors, and a model that uses every verb: they do not notice.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Agent, playAgent } from "./agent-story.ts";
import { expectEveryVerb, summarizeLogs } from "./every-verb-check.ts";
import { everyVerbStages, stagedModel } from "./every-verb-script.ts";
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

/** A client's own tool that reads files, and its field for the path. */
type ReadTool = { readonly name: string; readonly field: string };

async function play(agent: Agent, { name, field }: ReadTool): Promise<void> {
  let project = "";
  const stages = everyVerbStages((n) => ({
    type: "tool_use",
    name,
    input: { [field]: join(project, `page${n}.txt`) },
  }));
  const rig = await startManagedRig({ upstream: { model: stagedModel(stages) } });
  try {
    const { answers, transcript } = await playAgent(agent, {
      url: rig.url,
      headers,
      files,
      prompts: (folder) => {
        project = folder;
        return stages.map((_, n) => `stage ${n}`);
      },
    });
    expect(answers).toEqual(stages.map((_, n) => expect.stringMatching(new RegExp(`stage ${n} is done$`))));
    const logs = await summarizeLogs(rig.app);
    expectEveryVerb({ near: rig.near(), exchanges: rig.upstream.exchanges, logs, transcript });
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
