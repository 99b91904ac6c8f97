// Aperture is killed at random moments and started again with its data. Its clients retry, as they do with
// any server, and reach their ends; none of them is ever refused.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../src/base/index.ts";
import { isLong } from "../support/runs.ts";
import { prepareClaudeCode } from "./claude-code.ts";
import { callLine } from "./claude-script.ts";
import { type ClaudeVersion, type Clients, claudeVersions, installClients, installMs } from "./install.ts";
import { type Damage, damageOf, type KillRig, startKillRig, sumOf } from "./kill-rig.ts";
import { holdsOurs } from "./managed-bodies.ts";
import { runSdk, type SdkProgram, sdks, sums } from "./managed-sdk.ts";

const seed = Number(process.env["APERTURE_TEST_SEED"] ?? 20_261_116);
let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

type SdkSession = { readonly sdk: SdkProgram; readonly rig: KillRig; readonly name: string };
const steps = 5;
/** A model that binds its reasoning. */
const model = "claude-opus-5-5";

/** Runs one session from its beginning to its end. */
async function runSession({ sdk, rig, name }: SdkSession): Promise<void> {
  const headers = { "x-aperture-session": name };
  const plan = {
    bulk: `This is ${name}.`,
    // Practically unlimited retries.
    patience: 100_000,
    steps: Array.from({ length: steps }, (_, n) => ({
      prompt: sums(n),
      url: rig.url,
      headers,
      streams: true,
    })),
  };
  const { code, values, transcript } = await runSdk(sdk, clients, plan);
  const ends = plan.steps.map((_, n) => expect.stringContaining(`sums ${n} done`));
  expect({ code, values }).toEqual({ code: 0, values: ends });
  expect(holdsOurs(transcript)).toBe(false);
}

/** Runs sessions one after the other until all kills are done. */
async function sdkUnderFire(sdk: SdkProgram, kills: number, lanes: number): Promise<readonly Damage[]> {
  const rig = await startKillRig();
  const names: string[] = [];
  let isOver = false;
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const name = `session-${names.length}-of-many`;
      names.push(name);
      await runSession({ sdk, rig, name });
    }
  };
  try {
    const over = rig.kill(kills, seededRandom(seed)).finally(() => {
      isOver = true;
    });
    await Promise.all([over, ...Array.from({ length: lanes }, lane)]);
    expect(rig.kills.length).toBe(kills);
    return names.map((name) =>
      damageOf(
        rig.upstream.exchanges.filter(({ body }) => body.includes(`This is ${name}.`)),
        rig.kills,
      ),
    );
  } finally {
    isOver = true;
    await rig.close();
  }
}

function expectRecovered(what: string, damages: readonly Damage[], kills: number): void {
  console.log(`${what}: ${kills} kills, ${damages.length} sessions, ${JSON.stringify(sumOf(damages))}`);
  expect(damages.flatMap(({ unexcused }) => unexcused)).toEqual([]);
  expect(damages.filter(({ breaks, kills: met }) => breaks > met)).toEqual([]);
  const { managed, mended, requests } = sumOf(damages);
  expect(managed).toBe(requests - mended);
}

test("@anthropic-ai/sdk", async () => {
  const kills = isLong ? 100 : 6;
  expectRecovered("@anthropic-ai/sdk", await sdkUnderFire(sdks["@anthropic-ai/sdk"], kills, 3), kills);
});

const killsEach = isLong ? 5 : 3;

test.concurrent("ai", async () => {
  expectRecovered("ai", await sdkUnderFire(sdks.ai, killsEach, 1), killsEach);
});

/** Runs processes of one session one after the other until all kills are done. */
async function claudeUnderFire(version: ClaudeVersion, kills: number): Promise<readonly Damage[]> {
  const rig = await startKillRig();
  const program = clients.claudeCode(version);
  const claude = prepareClaudeCode({ program, url: rig.url, outside: "blocked" });
  writeFileSync(join(claude.project, "a.txt"), "alpha\nbeta\n");
  const read = callLine("Read", { file_path: join(claude.project, "a.txt") });
  const bash = callLine("Bash", { command: "echo hi", description: "says hi" });
  const prompt = `${read}\n${bash}\n${read} & ${bash}\nsay done`;
  let isOver = false;
  try {
    const over = rig.kill(kills, seededRandom(seed)).finally(() => {
      isOver = true;
    });
    let runs = 0;
    for (let isDone = false; !isDone || !isOver; runs += 1) {
      // A named session is managed, because its user asked for it.
      const env = { ANTHROPIC_CUSTOM_HEADERS: "x-aperture-session: under-fire" };
      const continued = runs === 0 ? [] : ["--continue"];
      const output = await claude.runWith(env, prompt, "--model", model, ...continued).then(
        ({ result }) => result,
        (error: unknown) => String(error),
      );
      // This client ends its process if an answer breaks off.
      isDone = !output.includes("Connection closed mid-response");
      if (isDone) expect(output).toBe("done");
    }
    await over;
    const turns = rig.upstream.exchanges.filter(({ target }) => !target.includes("count_tokens"));
    return [damageOf(turns, rig.kills)];
  } finally {
    claude.remove();
    await rig.close();
  }
}

test.concurrent.each(claudeVersions)("Claude Code %s", async (version) => {
  expectRecovered(`Claude Code ${version}`, await claudeUnderFire(version, killsEach), killsEach);
});
