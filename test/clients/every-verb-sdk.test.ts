// Programs with an SDK, and a model that uses every verb: they do not notice.
import { beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { expectEveryVerb, summarizeLogs } from "./every-verb-check.ts";
import { everyVerbStages, stagedModel } from "./every-verb-script.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { inLane } from "./lanes.ts";
import { startManagedRig } from "./managed-rig.ts";
import { runSdk, type SdkStep, sdks } from "./managed-sdk.ts";
import { bodyOf } from "./tap.ts";

let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

const headers = { "x-aperture-session": "a-name" };
type StepStyle = Pick<SdkStep, "streams" | "runs">;

/** Plays one session with the same style in every step. */
async function play(sdk: (typeof sdks)[keyof typeof sdks], style: StepStyle): Promise<void> {
  const stages = everyVerbStages((n) => ({
    type: "tool_use",
    name: "add",
    input: { a: 1, b: n, lines: 120 },
  }));
  const rig = await startManagedRig({ upstream: { model: stagedModel(stages) } });
  try {
    const steps = stages.map((_, n) => ({ prompt: `stage ${n}`, url: rig.url, headers, ...style }));
    const { code, values, transcript } = await runSdk(sdk, clients, { steps });
    expect({ code, values }).toEqual({ code: 0, values: stages.map((_, n) => expectedAnswer(n)) });
    // The runner asks the provider to keep the conversation; we refuse that, and it sends everything.
    const threaded = rig.near().filter((exchange) => (bodyOf(exchange)?.["thread"] ?? null) !== null);
    expect(threaded.map(({ status }) => status)).toEqual(style.runs === true ? threaded.map(() => 400) : []);
    expect(threaded.length > 0).toBe(style.runs === true);
    const logs = await summarizeLogs(rig.app);
    expectEveryVerb({ near: rig.near(), exchanges: rig.upstream.exchanges, logs, transcript });
  } finally {
    await rig.close();
  }
}

/** Texts of several rounds may arrive as one text. */
function expectedAnswer(stage: number): unknown {
  return expect.stringMatching(new RegExp(`stage ${stage} is done$`));
}

const timeout = 180_000;

const runnerStyles: readonly (readonly [string, StepStyle])[] = [
  ["in one piece", {}],
  ...(isLong ? [["streamed", { streams: true }] as const] : []),
];

describe.concurrent("a model that uses every verb", () => {
  test.each(Object.entries(sdks))("%s, streamed", { timeout }, (_, sdk) =>
    inLane(() => play(sdk, { streams: true })),
  );
  test.each(isLong ? Object.entries(sdks) : [])("%s, in one piece", { timeout }, (_, sdk) =>
    inLane(() => play(sdk, {})),
  );
  test.each(runnerStyles)("the tool runner of @anthropic-ai/sdk, %s", { timeout }, (_, style) =>
    inLane(() => play(sdks["@anthropic-ai/sdk"], { ...style, runs: true })),
  );
});
