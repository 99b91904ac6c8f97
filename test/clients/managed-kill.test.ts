// Aperture is killed at random moments and started again on what it has written. Its clients ask again, as
// they do when any server goes away, and come to their ends; none of them is ever refused.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../src/base/index.ts";
import { isLong } from "../support/runs.ts";
import { prepareClaudeCode } from "./claude-code.ts";
import { callOf } from "./claude-script.ts";
import { type ClaudeVersion, type Clients, claudeVersions, installClients, installMs } from "./install.ts";
import { type Damage, damageOf, type Killing, startKilling, sumOf } from "./killing.ts";
import { holdsOurs } from "./managed-lines.ts";
import { runSdk, type SdkProgram, sdks, sums } from "./managed-sdk.ts";

const seed = Number(process.env["APERTURE_TEST_SEED"] ?? 20_261_116);
let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

type Lane = { readonly sdk: SdkProgram; readonly killing: Killing; readonly name: string };
const steps = 5;
/** It binds its reasoning. */
const model = "claude-opus-5-5";

/** One session from its beginning to its end. */
async function talk({ sdk, killing, name }: Lane): Promise<void> {
  const headers = { "x-aperture-session": name };
  const plan = {
    bulk: `This is ${name}.`,
    // Longer than any killing lasts: how long it may take is the test's to say.
    patience: 100_000,
    steps: Array.from({ length: steps }, (_, n) => ({
      prompt: sums(n),
      url: killing.url,
      headers,
      streams: true,
    })),
  };
  const { code, values, transcript } = await runSdk(sdk, clients, plan);
  const ends = plan.steps.map((_, n) => expect.stringContaining(`sums ${n} done`));
  expect({ code, values }).toEqual({ code: 0, values: ends });
  expect(holdsOurs(transcript)).toBe(false);
}

/** Talks session after session for as long as there are kills to come. */
async function sdkUnderFire(sdk: SdkProgram, kills: number, lanes: number): Promise<readonly Damage[]> {
  const killing = await startKilling();
  const names: string[] = [];
  let isOver = false;
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const name = `session-${names.length}-of-many`;
      names.push(name);
      await talk({ sdk, killing, name });
    }
  };
  try {
    const over = killing.kill(kills, seededRandom(seed)).finally(() => {
      isOver = true;
    });
    await Promise.all([over, ...Array.from({ length: lanes }, lane)]);
    expect(killing.kills.length).toBe(kills);
    return names.map((name) =>
      damageOf(
        killing.upstream.exchanges.filter(({ body }) => body.includes(`This is ${name}.`)),
        killing.kills,
      ),
    );
  } finally {
    isOver = true;
    await killing.close();
  }
}

function expectMended(what: string, damages: readonly Damage[], kills: number): void {
  console.log(`${what}: ${kills} kills, ${damages.length} sessions, ${JSON.stringify(sumOf(damages))}`);
  expect(damages.flatMap(({ unexcused }) => unexcused)).toEqual([]);
  expect(damages.filter(({ breaks, kills: met }) => breaks > met)).toEqual([]);
  const { managed, requests } = sumOf(damages);
  // What comes before the log can be asked goes as it came, and on a busy machine that is not little.
  expect(managed).toBeGreaterThan(requests / 5);
}

test("@anthropic-ai/sdk", { timeout: 600_000 }, async () => {
  const kills = isLong ? 100 : 25;
  expectMended("@anthropic-ai/sdk", await sdkUnderFire(sdks["@anthropic-ai/sdk"], kills, 3), kills);
});

test.concurrent("ai", { timeout: 150_000 }, async () => {
  expectMended("ai", await sdkUnderFire(sdks.ai, 5, 1), 5);
});

/** Processes of one session, one after the other, for as long as there are kills to come. */
async function claudeUnderFire(version: ClaudeVersion, kills: number): Promise<readonly Damage[]> {
  const killing = await startKilling();
  const program = clients.claudeCode(version);
  const claude = prepareClaudeCode({ program, url: killing.url, outside: "blocked" });
  writeFileSync(join(claude.project, "a.txt"), "alpha\nbeta\n");
  const read = callOf("Read", { file_path: join(claude.project, "a.txt") });
  const bash = callOf("Bash", { command: "echo hi", description: "says hi" });
  const prompt = `${read}\n${bash}\n${read} & ${bash}\nsay done`;
  let isOver = false;
  try {
    const over = killing.kill(kills, seededRandom(seed)).finally(() => {
      isOver = true;
    });
    let runs = 0;
    for (let isDone = false; !isDone || !isOver; runs += 1) {
      // A user who names the session has asked for it.
      const env = { ANTHROPIC_CUSTOM_HEADERS: "x-aperture-session: under-fire" };
      const again = runs === 0 ? [] : ["--continue"];
      const said = await claude.runWith(env, prompt, "--model", model, ...again).then(
        ({ result }) => result,
        (error: unknown) => String(error),
      );
      // An answer that ends in the middle ends a process of this client, whoever cut it off.
      isDone = !said.includes("Connection closed mid-response");
      if (isDone) expect(said).toBe("done");
    }
    await over;
    const turns = killing.upstream.exchanges.filter(({ target }) => !target.includes("count_tokens"));
    return [damageOf(turns, killing.kills)];
  } finally {
    claude.remove();
    await killing.close();
  }
}

test.concurrent.each(claudeVersions)("Claude Code %s", { timeout: 150_000 }, async (version) => {
  expectMended(`Claude Code ${version}`, await claudeUnderFire(version, 5), 5);
});
