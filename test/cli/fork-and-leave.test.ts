// `fork` and `leave`: transcripts for other clients, refusals and exit codes.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { converse, openRig, type Rig } from "./rig.ts";

let rig: Rig;
const run = (...args: string[]) => rig.run(args);

beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await converse(rig, "leaving", ["say one", "say two"]);
  // An answer is recorded shortly after the client has received it.
  await vi.waitFor(async () => expect((await run("fork", "--to", "pi")).err).toMatch(/^4 messages/), 10_000);
}, 60_000);
afterAll(() => rig.close());

describe("fork", () => {
  test.each(["claude", "codex", "pi"])("writes a private file where %s looks for it", async (to) => {
    const { code, out, err } = await run("fork", "--to", to);
    expect(code).toBe(0);
    const path = out.trim();
    expect(path.startsWith(rig.home)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, "utf8");
    expect(text).toContain("say one");
    expect(text).toContain("say two");
    expect(err).toMatch(
      /^4 messages, ~\d+ tokens, as of seq \d+; 0 reasoning blocks left out\.\nContinue with: cd /,
    );
  });

  test("as of an earlier seq has only the messages up to then", async () => {
    const file = join(rig.folder, "early.jsonl");
    const states = await run("log", "--json", "--limit", "100");
    const first = JSON.parse(states.out).frames.find(({ deltas }: Frame) => deltas.some(isAnswered));
    const { code } = await run("fork", "--to", "pi", "--at", `${first.seq}`, "--out", file);
    expect(code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("say one");
    expect(readFileSync(file, "utf8")).not.toContain("say two");
    const again = await run("fork", "--to", "pi", "--out", file);
    expect([again.code, again.err]).toEqual([1, `${file} already exists; nothing was written.\n`]);
  });

  test("refuses unknown clients and empty seqs", async () => {
    const unknown = await run("fork", "--to", "emacs");
    expect([unknown.code, unknown.err]).toEqual([
      2,
      '--to must be claude, codex or pi, not "emacs"\n`aperture help fork` shows how to use it.\n',
    ]);
    const early = await run("fork", "--to", "claude", "--at", "1");
    expect([early.code, early.err]).toEqual([4, expect.stringContaining("has no message yet at this seq")]);
    const late = await run("fork", "--to", "claude", "--at", "99999");
    expect(late.code).toBe(4);
  });
});

describe("leave", () => {
  test("needs a client if the session has no known one", async () => {
    const { code, err } = await run("leave");
    expect([code, err]).toEqual([2, expect.stringContaining("Choose the client that continues with --to")]);
    const json = await run("leave", "--to", "claude", "--json");
    expect(JSON.parse(json.out)).toMatchObject({ v: 1, messages: 4, left: { reasoning: 0, pruned: 0 } });
  });
});

test("leave warns if the client's own history hardly fits the window", async () => {
  expect((await run("leave", "--to", "claude")).err).not.toContain("own history");
  const long = Array.from({ length: 74_000 }, (_, at) => (at % 7 === 0 ? "of" : `x${at % 97}`)).join(" ");
  await converse(rig, "long", [`say hello\n${long}`, "say goodbye"]);
  await vi.waitFor(async () => {
    const { code, err } = await run("leave", "--to", "claude");
    expect(code, err).toBe(0);
    expect(err).toMatch(
      /The client's own history of this session takes ~1[789]\d\.\dk of 200k\. Without Aperture, continue with this file\./,
    );
  }, 10_000);
}, 30_000);

type Frame = { readonly seq: number; readonly deltas: readonly { readonly type: string }[] };
const isAnswered = ({ type }: { readonly type: string }): boolean => type === "exchange-closed";
