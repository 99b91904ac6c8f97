import { beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { lawOfSameness, lawsOfEveryScript, type TwoRuns, textsOf } from "./claude-laws.ts";
import {
  backgroundSession,
  playScript,
  type ScriptRun,
  type Story,
  shortSession,
  wholeSession,
} from "./claude-script.ts";
import { type ClaudeVersion, installClients, installMs } from "./install.ts";
import { agentOf, isCount, messageShape, messagesOf, shapesOf } from "./shapes.ts";

export type ClaudeTraits = {
  readonly version: ClaudeVersion;
  /** Its usual model binds its reasoning to the conversation. */
  readonly isBound: boolean;
  /** It first requests the bare address, to check that a server answers. */
  readonly hasProbe: boolean;
  /** More models to try with `--long`. */
  readonly models: readonly string[];
};

const playMs = 180_000;

/** Every test of Claude Code, for one version of it. */
export function claudeSuite(traits: ClaudeTraits): void {
  describe(`Claude Code ${traits.version}`, () => {
    wholeSessionTests(traits);
    backgroundTests(traits);
    for (const model of isLong ? traits.models : []) {
      const runs = playTwice(traits, { steps: shortSession, flags: ["--model", model] });
      lawsOfEveryScript(model, runs);
      lawOfSameness(model, runs);
      test(`${model}: nothing is refused, and every step has its answer`, () => {
        const { through } = runs();
        expect(through.recording.refusals).toEqual([]);
        expect(Object.values(textsOf(through))).toEqual(["hello there", "tools done", "the third turn"]);
      });
    }
  });
}

/** Plays a script on both routes at once: they share nothing, and the client mostly waits. */
function playTwice({ version }: ClaudeTraits, script: Omit<ScriptRun, "program" | "route">): () => TwoRuns {
  let played: TwoRuns | null = null;
  beforeAll(async () => {
    const program = (await installClients()).claudeCode(version);
    const routes = ["direct", "through"] as const;
    const [direct, through] = await Promise.all(
      routes.map((route) => playScript({ ...script, program, route })),
    );
    if (direct !== undefined && through !== undefined) played = { direct, through };
  }, installMs + playMs);
  return () => {
    if (played === null) throw new Error("the script was not played");
    return played;
  };
}

function wholeSessionTests(traits: ClaudeTraits): void {
  const runs = playTwice(traits, { steps: wholeSession });
  lawsOfEveryScript("a whole session", runs);
  lawOfSameness("a whole session", runs);

  test("a whole session: every step has its answer, and the tools did their work", () => {
    const { through } = runs();
    expect(textsOf(through)).toEqual({
      plain: "hello there",
      tools: "tools done",
      third: "the third turn",
      agent: "everything done",
      compact: "",
      after: "after the compaction",
    });
    expect(through.edited).toBe("alpha\ngamma\n");
  });

  test("a whole session: it holds parallel calls, an agent, counts and a compaction", () => {
    const { near } = runs().through.recording;
    const last = near.filter((exchange) => agentOf(exchange) === null && !isCount(exchange));
    const shapes = last.flatMap(messagesOf).map(messageShape);
    expect(shapes.some((shape) => shape.endsWith("tool_use:Read,tool_use:Bash)"))).toBe(true);
    expect(shapes.some((shape) => shape.endsWith("tool_use:Nowhere)"))).toBe(true);
    expect(near.filter((exchange) => agentOf(exchange) !== null).length).toBeGreaterThanOrEqual(2);
    expect(near.filter(isCount).length).toBeGreaterThanOrEqual(10);
    const lengths = last.map((exchange) => messagesOf(exchange).length);
    expect(lengths.at(-1)).toBeLessThan(Math.max(...lengths));
  });

  test("a whole session: only reasoning kept over a compaction is refused, and the client recovers", () => {
    const { refusals } = runs().through.recording;
    expect(refusals.length).toBe(traits.isBound ? 1 : 0);
    expect(refusals.filter((text) => !text.includes("bound to a different conversation"))).toEqual([]);
  });
}

/** Answers are compressed and cut at odd positions here, which must make no difference. */
function backgroundTests(traits: ClaudeTraits): void {
  const upstream = { compress: true, split: 61 };
  const runs = playTwice(traits, { steps: backgroundSession, upstream, outside: "open" });
  lawsOfEveryScript("an agent in the background", runs);

  test("an agent in the background: it sends the same with Aperture as without", () => {
    const { direct, through } = runs();
    // The order in the main list depends on a race between the agents, so it is not compared.
    const agents = ({ recording }: Story) =>
      shapesOf(recording.near.filter((each) => agentOf(each) !== null));
    expect(agents(through)).toEqual(agents(direct));
    expect(agents(through)["agent 1"]?.length).toBe(2);
    expect(through.results["third"]?.result).toBe("the third turn");
    expect(through.recording.refusals).toEqual([]);
  });

  test("an agent in the background: a probe of the bare address is answered here and not relayed", () => {
    const { near, far } = runs().through.recording;
    const probes = near.filter(({ target }) => target === "/");
    expect(probes.map(({ method, status }) => `${method} ${status}`)).toEqual(
      traits.hasProbe ? ["HEAD 404", "HEAD 404"] : [],
    );
    expect(far.filter(({ target }) => target === "/")).toEqual([]);
  });
}
