import { beforeAll, expect, test } from "vitest";
import type { StrictUpstreamOptions } from "../../src/testing/index.ts";
import { startChild } from "../support/child.ts";
import { isLong } from "../support/runs.ts";
import { differencesIn } from "./compare.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { type Recording, type Route, recordClient } from "./rig.ts";
import { shapesOf } from "./shapes.ts";

type Steps = Readonly<{ [step: string]: unknown }>;
type SdkRun = { readonly steps: Steps; readonly recording: Recording };
export type Sdk = {
  readonly program: string;
  readonly modules: readonly string[];
  /** The expected output of each step. */
  readonly expected: Steps;
};

/** The ways an upstream may deliver the same answer. */
const deliveries: readonly (readonly [string, StrictUpstreamOptions])[] = [
  ["event by event", {}],
  ["compressed, in odd pieces", { compress: true, split: 7 }],
  ...(isLong
    ? ([
        ["at once", { split: "whole" }],
        ["byte by byte", { split: 1 }],
      ] as const)
    : []),
];

/** Tests a program with an SDK against every delivery, directly and through Aperture. */
export function sdkSuite(sdk: Sdk, inspect: (recording: Recording) => void): void {
  let clients: Clients | null = null;
  beforeAll(async () => {
    clients = await installClients();
  }, installMs);

  test.each(deliveries)("answers that come %s", { timeout: 120_000 }, async (delivery, upstream) => {
    const urls = sdk.modules.map((name) => clients?.moduleUrl(name) ?? name);
    const play = (route: Route): Promise<SdkRun> => run({ sdk, urls, setting: { ...upstream, route } });
    const [direct, through] = await Promise.all([play("direct"), play("through")]);
    console.log(`${delivery}: ${through.recording.near.length} requests compared`);
    expect(direct.steps).toEqual(sdk.expected);
    expect(through.steps).toEqual(sdk.expected);
    expect(differencesIn(through.recording)).toEqual([]);
    expect(shapesOf(through.recording.near)).toEqual(shapesOf(direct.recording.near));
    expect(through.recording.refusals).toEqual(direct.recording.refusals);
    inspect(through.recording);
  });
}

type RunInput = {
  readonly sdk: Sdk;
  readonly urls: readonly string[];
  readonly setting: StrictUpstreamOptions & { readonly route: Route };
};

async function run({ sdk, urls, setting }: RunInput): Promise<SdkRun> {
  const { result, recording } = await recordClient(setting, async (url) => {
    const child = startChild(sdk.program, [...urls, url]);
    const { code, stderr } = await child.ended;
    if (code !== 0) throw new Error(`${sdk.program} ended with ${code}: ${stderr}`);
    return stepsIn(child.lines);
  });
  return { steps: result, recording };
}

function stepsIn(lines: readonly string[]): Steps {
  // Our own program wrote these lines.
  const steps = lines.map((line) => JSON.parse(line) as { readonly step: string; readonly value: unknown });
  return Object.fromEntries(steps.map(({ step, value }) => [step, value]));
}
