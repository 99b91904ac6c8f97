// Claude Code continues a forked session from its own transcript, through Aperture and without it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRig } from "../cli/rig.ts";
import { answeredSeq } from "./answered-seq.ts";
import { prepareClaudeCode } from "./claude-code.ts";
import { callLine } from "./claude-script.ts";
import { claudeVersions, installClients, installMs } from "./install.ts";
import { inLane } from "./lanes.ts";
import { refusedIn } from "./managed-bodies.ts";

const timeout = installMs + 180_000;
/** A model that binds its reasoning. */
const model = ["--model", "claude-opus-5-5"] as const;
type ForkResult = {
  readonly path: string;
  readonly resume: string;
  readonly left: { readonly reasoning: number };
};

test.concurrent.each(claudeVersions)("Claude Code %s continues a fork", { timeout }, async (version) => {
  await inLane(async () => {
    const program = (await installClients()).claudeCode(version);
    const rig = await openRig();
    await rig.up();
    const claude = prepareClaudeCode({ program, url: rig.url, outside: "blocked" });
    const directly = { ANTHROPIC_BASE_URL: rig.upstream.url };
    const fork = async (...args: readonly string[]): Promise<ForkResult> => {
      const to = ["--to", "claude", "--dir", claude.project, "--json"];
      const { code, out, err } = await rig.run(["fork", "last", ...args, ...to], { HOME: claude.home });
      expect([code, err]).toEqual([0, ""]);
      return JSON.parse(out) as ForkResult;
    };
    try {
      writeFileSync(join(claude.project, "a.txt"), "the keeper's name is Ismael\n");
      const read = callLine("Read", { file_path: join(claude.project, "a.txt") });
      await claude.run(`${read}\nsay I have read it`, ...model);
      const seq = await answeredSeq(rig);
      await claude.run("say the second", ...model, "--continue");
      const early = await fork("--at", `${seq}`);
      const { result: without } = await claude.runWith(directly, "say without", ...model, "--continue");
      // Through Aperture again: the session there is still the first one, without the fork.
      const whole = await fork();
      const { result: through } = await claude.run("say through", ...model, "--continue");
      expect([without, through]).toEqual(["without", "through"]);
      expect(early.left.reasoning).toBeGreaterThan(0);
      expect(early.path).not.toBe(whole.path);
      const bodies = rig.upstream.exchanges.map(({ body }) => body.toString());
      const [first, second] = ["say without", "say through"].map(
        (text) => bodies.findLast((body) => body.includes(text)) ?? "",
      );
      expect(first).toContain("the keeper's name is Ismael");
      expect(first).not.toContain("say the second");
      expect(second).toContain("say the second");
      expect(second).not.toContain("say without");
      expect(refusedIn(rig.upstream.exchanges)).toEqual([]);
    } finally {
      claude.remove();
      await rig.close();
    }
  });
});
