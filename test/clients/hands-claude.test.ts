// Claude Code, with a model that uses every verb in between: the client notices nothing of it.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectEveryVerb, promptOf } from "./hands-check.ts";
import { everyVerb, handsModel } from "./hands-script.ts";
import { claudeVersions, installMs } from "./install.ts";
import { inLane } from "./lanes.ts";
import { playClaude } from "./managed-story.ts";

const timeout = installMs + 180_000;
const pageOf = (n: number): string =>
  Array.from({ length: 120 }, (_, line) => `page ${n}, line ${line}: ${"some words ".repeat(6)}`).join("\n");
const pages = [1, 2, 3, 4];

describe.concurrent.each(claudeVersions)("Claude Code %s", (version) => {
  test("a model that uses every verb", { timeout }, async () => {
    let project = "";
    const file = (n: number): string => join(project, `page${n}.txt`);
    const stages = everyVerb((n) => ({ type: "tool_use", name: "Read", input: { file_path: file(n) } }));
    const story = await inLane(() =>
      playClaude({
        version,
        model: "claude-opus-5-5",
        files: Object.fromEntries(pages.map((n) => [`page${n}.txt`, pageOf(n)])),
        options: { upstream: { model: handsModel(stages) }, deadlineMs: 20_000 },
        turns: (scene) => {
          project = scene.project;
          return stages.map((_, n) => ({ prompt: `stage ${n}` }));
        },
      }),
    );
    expect(story.results.map(({ result }) => result)).toEqual(stages.map((_, n) => `stage ${n} is done`));
    expect(story.results.some(({ isError }) => isError)).toBe(false);
    expectEveryVerb(story);
    // What it takes for the size of its context is that of the last sampling, after three hidden rounds.
    const last = story.exchanges.findLast(({ usage, body }) => usage !== null && body.includes("stage 7"));
    expect(contextIn(story.transcript)).toBe(promptOf(last?.usage));
  });
});

/** The prompt of the last answer, as the client has written it down. */
function contextIn(transcript: string): number {
  const lines = transcript.split("\n").filter((line) => line.startsWith("{"));
  const said = lines.map((line) => JSON.parse(line) as Line).filter(({ type }) => type === "assistant");
  const last = said.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)).at(-1);
  return promptOf(last?.message?.usage);
}

type Line = {
  readonly type: string;
  readonly timestamp: string;
  readonly message?: { readonly usage: Readonly<Record<string, unknown>> };
};
