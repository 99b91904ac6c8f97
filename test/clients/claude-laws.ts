import { expect, test } from "vitest";
import type { Story } from "./claude-script.ts";
import { differencesIn } from "./compare.ts";
import { shapesOf } from "./shapes.ts";
import type { Exchange } from "./tap.ts";
import { headerOf } from "./wire-bytes.ts";

/** The same script played directly and through Aperture. */
export type TwoRuns = { readonly direct: Story; readonly through: Story };

/** Tests that must hold for every script of every version. The runs are read late: a hook plays them. */
export function lawsOfEveryScript(name: string, runs: () => TwoRuns): void {
  test(`${name}: Aperture changes no byte in either direction and records all of them`, () => {
    const { recording } = runs().through;
    console.log(`${name}: ${recording.near.length} requests compared`);
    expect(recording.near.filter(isPost).length).toBeGreaterThan(0);
    expect(differencesIn(recording)).toEqual([]);
  });

  test(`${name}: every process ends well and keeps to one session`, () => {
    for (const story of Object.values(runs())) {
      const results = Object.values(story.results);
      const [first] = results;
      expect(results.filter(({ isError }) => isError)).toEqual([]);
      expect(new Set(results.map(({ session }) => session))).toEqual(new Set([first?.session]));
      expect(new Set(story.recording.near.filter(isPost).map(sessionOf))).toEqual(new Set([first?.session]));
    }
  });
}

/** Holds for scripts without a race between agents. */
export function lawOfSameness(name: string, runs: () => TwoRuns): void {
  test(`${name}: the client sends the same with Aperture as without`, () => {
    const { direct, through } = runs();
    expect(shapesOf(through.recording.near)).toEqual(shapesOf(direct.recording.near));
    expect(through.recording.refusals).toEqual(direct.recording.refusals);
    expect(textsOf(through)).toEqual(textsOf(direct));
    expect(through.edited).toBe(direct.edited);
  });
}

/** The printed text of each step, without the step that prints measurements. */
export function textsOf(story: Story): Readonly<{ [step: string]: string }> {
  const texts = Object.entries(story.results).map(([step, { result }]) => [step, result]);
  return Object.fromEntries(texts.filter(([step]) => step !== "count"));
}

export function isPost({ method }: Exchange): boolean {
  return method === "POST";
}

function sessionOf({ request }: Exchange): string | null {
  return headerOf(request, "x-claude-code-session-id");
}
