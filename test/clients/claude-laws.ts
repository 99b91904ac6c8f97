import { expect, test } from "vitest";
import type { Story } from "./claude-script.ts";
import { differencesIn } from "./compare.ts";
import { shapesOf } from "./shapes.ts";
import type { Exchange } from "./tap.ts";
import { headerOf } from "./wire-bytes.ts";

/** The same script told twice. Read when a test runs, because it is told in a hook. */
export type Twice = { readonly direct: Story; readonly through: Story };

/** What must hold for every script of every version. */
export function lawsOfEveryScript(name: string, twice: () => Twice): void {
  test(`${name}: Aperture changes no byte in either direction and records all of them`, () => {
    const { recording } = twice().through;
    console.log(`${name}: ${recording.near.length} requests compared`);
    expect(recording.near.filter(isAsked).length).toBeGreaterThan(0);
    expect(differencesIn(recording)).toEqual([]);
  });

  test(`${name}: every process ends well and keeps to one session`, () => {
    for (const story of Object.values(twice())) {
      const results = Object.values(story.results);
      const [first] = results;
      expect(results.filter(({ isError }) => isError)).toEqual([]);
      expect(new Set(results.map(({ session }) => session))).toEqual(new Set([first?.session]));
      expect(new Set(story.recording.near.filter(isAsked).map(sessionOf))).toEqual(new Set([first?.session]));
    }
  });
}

/** Holds where nothing depends on who is quicker. */
export function lawOfSameness(name: string, twice: () => Twice): void {
  test(`${name}: the client says the same with Aperture as without`, () => {
    const { direct, through } = twice();
    expect(shapesOf(through.recording.near)).toEqual(shapesOf(direct.recording.near));
    expect(through.recording.refusals).toEqual(direct.recording.refusals);
    expect(textsOf(through)).toEqual(textsOf(direct));
    expect(through.edited).toBe(direct.edited);
  });
}

/** What the client printed, without what it measured itself. */
export function textsOf(story: Story): Readonly<{ [step: string]: string }> {
  const texts = Object.entries(story.results).map(([step, { result }]) => [step, result]);
  return Object.fromEntries(texts.filter(([step]) => step !== "count"));
}

export function isAsked({ method }: Exchange): boolean {
  return method === "POST";
}

function sessionOf({ request }: Exchange): string | null {
  return headerOf(request, "x-claude-code-session-id");
}
