import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "aperture-examples-"));
  folders.push(folder);
  return folder;
}

// The person who runs the tests may have a key; the examples are started without one.
delete process.env["ANTHROPIC_API_KEY"];

/** An example as a reader starts it. */
function start(name: string, args: readonly string[] = []): Child {
  return startChild(resolve("examples", name), args, "pipe");
}

async function output(child: Child): Promise<readonly string[]> {
  const { code, stderr } = await child.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return child.lines;
}

/** The output that the README shows for an example: the first block after its heading. */
function documentedOutput(name: string): readonly string[] {
  const [, section = ""] = readFileSync("examples/README.md", "utf8").split(`## ${name}\n`);
  const [, block = ""] = section.split(/```\w*\n/);
  return block
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith("$ "));
}

describe.concurrent("the examples, as real programs without a key", { timeout: 30_000 }, () => {
  it("group-chat: two agents answer, each by its name, and a private conversation stays private", async () => {
    const chat = start("group-chat.mjs");
    chat.process.stdin?.end("hello\n/dm ada I have a secret\nbea, what is the sea?\n/dm carl hi\n\nada?\n");
    expect(await output(chat)).toEqual(documentedOutput("group-chat.mjs"));
  });

  it("http-bot: each user has a conversation of their own, and a restart continues it", async () => {
    const file = join(newFolder(), "bot.db");
    const first = start("http-bot.mjs", ["--file", file]);
    const say = await sayer(first);
    const all = ["one", "two", "three"].map((text) => say({ user: "bob", text }));
    expect((await Promise.all(all)).map(({ answer }) => answer).sort()).toEqual(
      [1, 2, 3].map((n) => `This is number ${n} of what you have told me.`),
    );
    expect(await say({ user: "carl", text: "hi" })).toEqual({
      answer: "This is number 1 of what you have told me.",
    });
    expect(await say({ user: "bob" })).toEqual({ error: "user and text, please" });
    first.process.kill("SIGTERM");
    expect((await output(first)).at(-1)).toBe("closed");

    const again = start("http-bot.mjs", ["--file", file]);
    expect(await (await sayer(again))({ user: "bob", text: "four" })).toEqual({
      answer: "This is number 4 of what you have told me.",
    });
    again.process.kill("SIGTERM");
    await output(again);
  });

  it("coding-agent: works with its three tools, and reads nothing outside the folder", async () => {
    const folder = join(newFolder(), "work");
    writeFileSync(join(folder, "..", "secret"), "secret");
    expect(await output(start("coding-agent.mjs", ["--folder", folder]))).toEqual(
      documentedOutput("coding-agent.mjs"),
    );
    expect(readFileSync(join(folder, "src/add.mjs"), "utf8")).toContain("a + b");
  });

  it("coding-agent: does not start without a folder", async () => {
    const { code, stderr } = await start("coding-agent.mjs").ended;
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--folder work") });
  });

  it("coding-agent: does not follow a link out of its folder", async () => {
    const [folder, outside] = [newFolder(), newFolder()];
    symlinkSync(outside, join(folder, "src"));
    const lines = await output(start("coding-agent.mjs", ["--folder", folder]));
    expect(lines.filter((line) => line === "<- write_file failed")).toHaveLength(1);
    expect(existsSync(join(outside, "add.mjs"))).toBe(false);
  });

  it("coding-agent: after a kill the next start finishes the task", async () => {
    const folder = newFolder();
    const first = start("coding-agent.mjs", ["--folder", folder, "--slow-ms", "60000"]);
    expect(await first.said((line) => line === "-> write_file started")).not.toBeNull();
    first.process.kill("SIGKILL");
    await first.ended;
    expect(existsSync(join(folder, "README.md"))).toBe(false);
    const lines = await output(start("coding-agent.mjs", ["--folder", folder]));
    expect(lines[0]).toBe("(going on with what was cut off)");
    expect(lines.at(-1)).toContain("There is a function `add`");
    expect(existsSync(join(folder, "README.md"))).toBe(true);
  });
});

async function sayer(bot: Child): Promise<(body: object) => Promise<{ readonly answer?: string }>> {
  const line = await bot.said((said) => said.startsWith("listening on "));
  const url = `${line?.slice("listening on ".length)}/say`;
  return async (body) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    return (await response.json()) as { answer?: string };
  };
}
