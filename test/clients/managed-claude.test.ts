// Claude Code, managed: the model gets our requests, and the client does not notice.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prefixBreaks } from "../support/test-client.ts";
import { callLine, shortSession, wholeSession } from "./claude-script.ts";
import { type ClaudeVersion, claudeVersions, installMs } from "./install.ts";
import { inLane } from "./lanes.ts";
import {
  asksForSummary,
  breaksIn,
  holdsOurs,
  isManaged,
  isTurn,
  isUntouched,
  leaksIn,
  refusedIn,
  turnsByAgent,
} from "./managed-bodies.ts";
import type { Pair } from "./managed-rig.ts";
import { type ClaudePlay, type ManagedStory, playClaude } from "./managed-story.ts";
import { isCount } from "./shapes.ts";
import { bodyOf } from "./tap.ts";

const timeout = installMs + 180_000;
/** The older version's usual model does not bind its reasoning; with this one both versions must keep it. */
const model = "claude-opus-5-5";
const play = (input: ClaudePlay): Promise<ManagedStory> => inLane(() => playClaude(input));
const texts = ({ results }: ManagedStory): readonly string[] => results.map(({ result }) => result);
const nearBreaks = (pairs: readonly Pair[]): number =>
  prefixBreaks(pairs.map(({ near }) => near.request.body));
const main = ({ pairs }: ManagedStory): readonly Pair[] => turnsByAgent(pairs).get("main") ?? [];
const nonceOf = (pair: Pair | undefined): string | undefined =>
  /\[(?:CONTEXT MANIFEST )?(\w{4}) turn \d+/.exec(pair?.far.body.toString() ?? "")?.[1];
const header = (line: string) => ({ env: { ANTHROPIC_CUSTOM_HEADERS: line } });

function expectUnnoticed({ near, transcript, exchanges }: ManagedStory): void {
  expect(refusedIn(exchanges)).toEqual([]);
  expect(leaksIn(near)).toEqual([]);
  expect(holdsOurs(transcript)).toBe(false);
}

const faultCases = [
  ["storage that dies", { maxPages: 60 }],
  ["an engine that is stuck", { stickAfter: 3, stuckMs: 500 }],
] as const;

describe.concurrent.each(claudeVersions)("Claude Code %s, managed", (version) => {
  scriptTest(version);
  modeTest(version);
  faultTests(version);
  beginTest(version);
  leaveTest(version);
  compactionTest(version);
});

function scriptTest(version: ClaudeVersion): void {
  test("every turn is managed, each agent has its own ledger, and other requests pass unchanged", {
    timeout,
  }, async () => {
    const story = await play({
      version,
      turns: ({ project }) => {
        const { compact: _, after: __, ...steps } = wholeSession(project);
        return Object.values(steps).map((prompt) => ({ prompt, ...header("x-aperture-session: whole") }));
      },
    });
    expect(texts(story).slice(0, 4)).toEqual([
      "hello there",
      "tools done",
      "the third turn",
      "everything done",
    ]);
    expectUnnoticed(story);
    const turns = turnsByAgent(story.pairs);
    expect([...turns.values()].flat().every(({ far }) => isManaged(far))).toBe(true);
    const [, agent = []] = [...turns.values()];
    expect(turns.size).toBe(2);
    expect(nonceOf(agent[0])).not.toBe(nonceOf(main(story)[0]));
    const others = story.pairs.filter((pair) => !isTurn(pair));
    expect(others.filter(({ near }) => isCount(near)).length).toBeGreaterThan(10);
    expect(others.filter((pair) => !isUntouched(pair))).toEqual([]);
    const own = nearBreaks(main(story));
    console.log(`${version}: ${main(story).length} turns, breaks ${breaksIn(main(story))}, its own ${own}`);
    expect(breaksIn(main(story))).toBe(own);
    expect(breaksIn(agent)).toBe(0);
  });
}

function modeTest(version: ClaudeVersion): void {
  test("the mode may change between two processes", { timeout }, async () => {
    const [observe, bypass] = [header("x-aperture-mode: observe"), header("x-aperture-bypass: 1")];
    const story = await play({
      version,
      model,
      turns: ({ project }) => {
        const prompts = [...Object.values(shortSession(project)), "say four", "say five"];
        return prompts.map((prompt, at) => ({ prompt, ...[{}, observe, {}, bypass, {}][at] }));
      },
    });
    expect(texts(story)).toEqual(["hello there", "tools done", "the third turn", "four", "five"]);
    expectUnnoticed(story);
    const own = nearBreaks(main(story));
    console.log(`${version}, modes: breaks ${breaksIn(main(story))}, its own ${own}`);
    // Each time management stops the prefix breaks; when it resumes it continues what was sent meanwhile.
    expect(breaksIn(main(story))).toBe(2);
    expect(main(story).at(-1)?.far.body.toString()).toContain("come from Aperture");
  });
}

function faultTests(version: ClaudeVersion): void {
  test.each(faultCases)("%s is not noticed", { timeout }, async (_, faults) => {
    const turns: ClaudePlay["turns"] = ({ project }) =>
      Object.values(shortSession(project)).map((prompt) => ({ prompt }));
    const story = await play({ version, model, turns, options: { faults } });
    expect(texts(story)).toEqual(["hello there", "tools done", "the third turn"]);
    expectUnnoticed(story);
    expect(main(story).every(({ far }) => isManaged(far))).toBe(true);
    expect(breaksIn(main(story))).toBe(nearBreaks(main(story)));
  });
}

function beginTest(version: ClaudeVersion): void {
  test("a session begun without Aperture is managed later", { timeout }, async () => {
    const story = await play({
      version,
      model,
      turns: ({ project, direct }) =>
        Object.values(shortSession(project)).map((prompt, at) => ({
          prompt,
          ...(at < 2 ? { env: { ANTHROPIC_BASE_URL: direct } } : header("x-aperture-session: late")),
        })),
    });
    expect(texts(story)).toEqual(["hello there", "tools done", "the third turn"]);
    expectUnnoticed(story);
    const last = story.exchanges.at(-1)?.body.toString() ?? "";
    console.log(`${version}, begun without: managed at once ${holdsOurs(last)}`);
    expect(holdsOurs(last)).toBe(true);
  });
}

function leaveTest(version: ClaudeVersion): void {
  test("a session continued without Aperture is refused once, and the client recovers", {
    timeout,
  }, async () => {
    const story = await play({
      version,
      model,
      turns: ({ project, direct }) =>
        Object.values(shortSession(project)).map((prompt, at) => ({
          prompt,
          env: at < 2 ? {} : { ANTHROPIC_BASE_URL: direct },
        })),
    });
    const refused = refusedIn(story.exchanges);
    console.log(`${version}, left for good: ${refused.length} refused, then ${texts(story).at(-1)}`);
    expect(texts(story)).toEqual(["hello there", "tools done", "the third turn"]);
    expect(refused.filter((text) => !text.includes("bound to a different conversation"))).toEqual([]);
    expect(refused.length).toBe(1);
  });
}

function compactionTest(version: ClaudeVersion): void {
  test("a compaction reads the cached prompt", { timeout }, async () => {
    const files = Object.fromEntries(pages.map((n) => [`page${n}.txt`, pageOf(n)]));
    const story = await play({
      version,
      model,
      files,
      turns: ({ project }) => [
        ...pages.map((n) => ({
          prompt: `${callLine("Read", { file_path: join(project, `page${n}.txt`) })}\nsay ${n}`,
        })),
        { prompt: "say ready" },
        { prompt: "/compact" },
        { prompt: "say after" },
      ],
    });
    expect(texts(story)).toEqual([...pages.map(String), "ready", "", "after"]);
    expectUnnoticed(story);
    const index = story.pairs.findIndex(({ near }) => asksForSummary(bodyOf(near)));
    const [before, compaction] = [story.pairs[index - 1], story.pairs[index]].map(cachedShare);
    console.log(`${version}, compaction: ${JSON.stringify({ before, compaction })}`);
    expect(before).toBeGreaterThan(0.5);
    expect(compaction).toBeGreaterThanOrEqual(0.95 * (before ?? 1));
    expect(story.pairs.at(-1)?.far.body.toString()).toContain("come from Aperture");
  });
}

/** Enough pages to make the request for a summary small beside the session. */
const pages = [1, 2, 3, 4];
function pageOf(n: number): string {
  return Array.from({ length: 500 }, (_, line) => `page ${n}, line ${line}: ${"some words ".repeat(6)}`).join(
    "\n",
  );
}

/** The share of the prompt that was read from the cache. */
function cachedShare(pair: Pair | undefined): number {
  const usage = pair?.far.usage;
  if (usage === undefined || usage === null) return 0;
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  return cache_read_input_tokens / (input_tokens + cache_creation_input_tokens + cache_read_input_tokens);
}
