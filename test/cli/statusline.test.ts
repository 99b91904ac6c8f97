// The status line of a client: it always prints a line, never fails, and finds the client's session.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

type Line = { readonly code: number | null; readonly out: string; readonly err: string };

function line(input: string, args: readonly string[] = []): Promise<Line> {
  const program = join(process.cwd(), "dist", "cli", "main.cjs");
  const child = spawn(process.execPath, [program, "statusline", ...args], { env: rig.env, cwd: rig.folder });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return new Promise((done) => child.once("close", (code) => done({ code, out, err })));
}

const client = (session: string) =>
  JSON.stringify({
    session_id: session,
    model: { id: "claude-sonnet-4-5", display_name: "Sonnet 4.5" },
    cost: { total_cost_usd: 0.4249 },
    context_window: { context_window_size: 200_000, current_usage: { input_tokens: 20_000 } },
  });

describe("without Aperture", () => {
  test("it prints the client's facts, and that Aperture is not running", async () => {
    expect(await line(client("first"))).toEqual({
      code: 0,
      out: "Sonnet 4.5 10% 20k/200k | aperture is not running | $0.42\n",
      err: "",
    });
  });

  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["another JSON", '[1,{"model":7},null]'],
    [
      "hostile text",
      JSON.stringify({ model: { display_name: "\u001b[2J\nx" }, cost: { total_cost_usd: "9" } }),
    ],
  ])("it accepts any standard input: %s", async (_, input) => {
    const { code, out, err } = await line(input);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^[^\p{Cc}]+\n$/u);
  });

  test("it ignores unknown options and invalid settings", async () => {
    expect(await line("", ["--wrong", "--port", "x"])).toMatchObject({ code: 0, out: "aperture\n", err: "" });
  });
});

describe("with Aperture", () => {
  beforeAll(async () => {
    await rig.up();
    await converse(rig, "first", ["say hello", "say more"]);
    await converse(rig, "second", ["say hello"]);
  });

  test("it is about the client's session", async () => {
    await expect
      .poll(async () => (await line(client("first"))).out, { timeout: 10_000 })
      .toMatch(/^Sonnet 4\.5 <?\d+% \d+\/200k \| cache \d+% [45]:\d\d \| \$0\.42\n$/);
    const unknown = await line(client("never seen"));
    expect(unknown.out).toContain("no request through aperture yet");
    expect((await rig.run(["context", "name:second", "--json"])).code).toBe(0);
  });

  test("it has help like every verb", async () => {
    const { code, out } = await rig.run(["statusline", "--help"]);
    expect({ code, start: out.split("\n")[0] }).toEqual({
      code: 0,
      start: "usage: aperture statusline [OPTIONS]",
    });
  });
});
