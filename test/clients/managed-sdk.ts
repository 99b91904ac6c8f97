import { startChild } from "../support/child.ts";
import type { Clients } from "./install.ts";

/** A program of ours that uses one SDK. */
export type SdkProgram = { readonly program: string; readonly modules: readonly string[] };
export type SdkStep = {
  readonly prompt: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly streams?: boolean;
  /** Another model than the usual one. */
  readonly model?: string;
  /** Files that its model can read, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The tool runner of the package carries out the calls. */
  readonly runs?: boolean;
};
export type SdkPlan = {
  readonly steps: readonly SdkStep[];
  /** Makes the first prompt larger. */
  readonly bulk?: string;
  /** The number of retries if no answer arrives. */
  readonly patience?: number;
};
export type SdkStory = {
  readonly code: number | null;
  /** The result of each step. */
  readonly values: readonly string[];
  /** The whole conversation at the end, as it would send it again. */
  readonly transcript: string;
};

export const sdks = {
  "@anthropic-ai/sdk": {
    program: "test/clients/managed-anthropic-child.mjs",
    modules: ["@anthropic-ai/sdk"],
  },
  ai: { program: "test/clients/managed-ai-child.mjs", modules: ["ai", "@ai-sdk/anthropic"] },
} as const satisfies Readonly<Record<string, SdkProgram>>;

export async function runSdk(
  { program, modules }: SdkProgram,
  clients: Clients,
  plan: SdkPlan,
): Promise<SdkStory> {
  const child = startChild(program, [...modules.map(clients.moduleUrl), JSON.stringify(plan)]);
  const { code, stderr } = await child.ended;
  if (stderr !== "") throw new Error(`${program} said: ${stderr}`);
  // Our own program wrote these lines.
  const results = child.lines.map(
    (line) => JSON.parse(line) as { readonly step: unknown; readonly value: unknown },
  );
  const values = results.filter(({ step }) => step !== "messages").map(({ value }) => String(value));
  return { code, values, transcript: JSON.stringify(results.at(-1)?.value) };
}

/** A prompt whose steps the scripted model follows: text, two parallel calls, one more, and an end. */
export function sums(n: number): string {
  return [
    "say I add these",
    `call add {"a":${n},"b":2} & add {"a":3,"b":${n}}`,
    `call add {"a":5,"b":${n}}`,
    `say sums ${n} done`,
  ].join("\n");
}
