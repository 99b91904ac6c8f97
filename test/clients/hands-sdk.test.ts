// Programs with an SDK, and a model that uses every verb in between: they notice nothing of it.
import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryVerb, loggedBy } from "./hands-check.ts";
import { everyVerb, handsModel } from "./hands-script.ts";
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
type Way = Pick<SdkStep, "streams" | "runs">;

/** One session, every step of it asked for in the same way. */
async function play(sdk: (typeof sdks)[keyof typeof sdks], way: Way): Promise<void> {
  const stages = everyVerb((n) => ({ type: "tool_use", name: "add", input: { a: 1, b: n, lines: 120 } }));
  const rig = await startManagedRig({ upstream: { model: handsModel(stages) }, deadlineMs: 20_000 });
  try {
    const steps = stages.map((_, n) => ({ prompt: `stage ${n}`, url: rig.url, headers, ...way }));
    const { code, values, transcript } = await runSdk(sdk, clients, { steps });
    expect({ code, values }).toEqual({ code: 0, values: stages.map((_, n) => expectedOf(n)) });
    // The runner wants the provider to keep the talk, is told by us to send all of it, and does.
    const threaded = rig.near().filter((exchange) => (bodyOf(exchange)?.["thread"] ?? null) !== null);
    expect(threaded.map(({ status }) => status)).toEqual(way.runs === true ? threaded.map(() => 400) : []);
    expect(threaded.length > 0).toBe(way.runs === true);
    const logged = await loggedBy(rig.app);
    expectEveryVerb({ near: rig.near(), exchanges: rig.upstream.exchanges, logged, transcript });
  } finally {
    await rig.close();
  }
}

/** What was said in several samplings may be told as one text. */
function expectedOf(stage: number): unknown {
  return expect.stringMatching(new RegExp(`stage ${stage} is done$`));
}

const timeout = 180_000;

describe.concurrent("a model that uses every verb", () => {
  test.each(Object.entries(sdks))("%s, streamed", { timeout }, (_, sdk) =>
    inLane(() => play(sdk, { streams: true })),
  );
  test.each(Object.entries(sdks))("%s, in one piece", { timeout }, (_, sdk) => inLane(() => play(sdk, {})));
  test.each([
    ["streamed", { streams: true }],
    ["in one piece", {}],
  ])("the tool runner of @anthropic-ai/sdk, %s", { timeout }, (_, way) =>
    inLane(() => play(sdks["@anthropic-ai/sdk"], { ...way, runs: true })),
  );
});
