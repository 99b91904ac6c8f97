// Going on elsewhere, as a user meets it: transcripts for other clients, refusals and exit codes.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openRig, type Rig, talk } from "./rig.ts";

let rig: Rig;
const run = (...args: string[]) => rig.run(args);

beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await talk(rig, "leaving", ["say one", "say two"]);
  // What was answered is written down a moment later.
  await vi.waitFor(async () => expect((await run("fork", "--to", "pi")).err).toMatch(/^4 messages/), 10_000);
}, 60_000);
afterAll(() => rig.close());

describe("fork", () => {
  test.each(["claude", "codex", "pi"])(
    "writes a file where %s looks for it, for its owner alone",
    async (to) => {
      const { code, out, err } = await run("fork", "--to", to);
      expect(code).toBe(0);
      const path = out.trim();
      expect(path.startsWith(rig.home)).toBe(true);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const text = readFileSync(path, "utf8");
      expect(text).toContain("say one");
      expect(text).toContain("say two");
      expect(err).toMatch(
        /^4 messages, ~\d+ tokens, as of seq \d+; 0 reasoning blocks left out\.\nGo on with: cd /,
      );
    },
  );

  test("as of an earlier seq has only what was there then", async () => {
    const file = join(rig.folder, "early.jsonl");
    const states = await run("log", "--json", "--limit", "100");
    const first = JSON.parse(states.out).frames.find(({ deltas }: Frame) => deltas.some(isAnswered));
    const { code } = await run("fork", "--to", "pi", "--at", `${first.seq}`, "--out", file);
    expect(code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("say one");
    expect(readFileSync(file, "utf8")).not.toContain("say two");
    const again = await run("fork", "--to", "pi", "--out", file);
    expect([again.code, again.err]).toEqual([1, `${file} is there already; nothing was written.\n`]);
  });

  test("says what it cannot do", async () => {
    const unknown = await run("fork", "--to", "emacs");
    expect([unknown.code, unknown.err]).toEqual([
      2,
      "No transcript can be written for emacs. Known are claude, codex, pi.\n",
    ]);
    const early = await run("fork", "--to", "claude", "--at", "1");
    expect([early.code, early.err]).toEqual([4, expect.stringContaining("has no message yet at this seq")]);
    const late = await run("fork", "--to", "claude", "--at", "99999");
    expect(late.code).toBe(4);
  });
});

describe("leave", () => {
  test("asks for the client where the session came from none that is known", async () => {
    const { code, err } = await run("leave");
    expect([code, err]).toEqual([2, expect.stringContaining("say with --to which client goes on with it")]);
    const json = await run("leave", "--to", "claude", "--json");
    expect(JSON.parse(json.out)).toMatchObject({ v: 1, messages: 4, left: { reasoning: 0, pruned: 0 } });
  });
});

test("leave says so when the client's own history would hardly fit any more", async () => {
  expect((await run("leave", "--to", "claude")).err).not.toContain("own history");
  const long = Array.from({ length: 74_000 }, (_, at) => (at % 7 === 0 ? "of" : `x${at % 97}`)).join(" ");
  await talk(rig, "long", [`say hello\n${long}`, "say goodbye"]);
  await vi.waitFor(async () => {
    const { code, err } = await run("leave", "--to", "claude");
    expect(code, err).toBe(0);
    expect(err).toMatch(
      /The client's own history of this session takes ~1[789]\d\.\dk of 200k: without Aperture, go on with this file\./,
    );
  }, 10_000);
}, 30_000);

type Frame = { readonly seq: number; readonly deltas: readonly { readonly type: string }[] };
const isAnswered = ({ type }: { readonly type: string }): boolean => type === "exchange-closed";
