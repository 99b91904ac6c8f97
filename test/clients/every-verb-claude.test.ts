// Claude Code with a model that uses every verb: the client does not notice.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectEveryVerb, promptTokens } from "./every-verb-check.ts";
import { everyVerbStages, stagedModel } from "./every-verb-script.ts";
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
    const stages = everyVerbStages((n) => ({
      type: "tool_use",
      name: "Read",
      input: { file_path: file(n) },
    }));
    const story = await inLane(() =>
      playClaude({
        version,
        model: "claude-opus-5-5",
        files: Object.fromEntries(pages.map((n) => [`page${n}.txt`, pageOf(n)])),
        options: { upstream: { model: stagedModel(stages) } },
        turns: (scene) => {
          project = scene.project;
          return stages.map((_, n) => ({ prompt: `stage ${n}` }));
        },
      }),
    );
    expect(story.results.map(({ result }) => result)).toEqual(stages.map((_, n) => `stage ${n} is done`));
    expect(story.results.some(({ isError }) => isError)).toBe(false);
    expectEveryVerb(story);
    // The client takes the prompt of the last round for its context size, after three hidden rounds.
    const last = story.exchanges.findLast(({ usage, body }) => usage !== null && body.includes("stage 7"));
    expect(contextTokens(story.transcript)).toBe(promptTokens(last?.usage));
  });
});

/** The size of the last prompt, from the client's transcript. */
function contextTokens(transcript: string): number {
  const lines = transcript.split("\n").filter((line) => line.startsWith("{"));
  const entries = lines.map((line) => JSON.parse(line) as TranscriptLine);
  const answers = entries.filter(({ type }) => type === "assistant");
  const last = answers.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)).at(-1);
  return promptTokens(last?.message?.usage);
}

type TranscriptLine = {
  readonly type: string;
  readonly timestamp: string;
  readonly message?: { readonly usage: Readonly<Record<string, unknown>> };
};
