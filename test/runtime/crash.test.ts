import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/index.ts";
import { type Child, startChild } from "../support/child.ts";
import { isLong } from "../support/runs.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type CrashFiles = { readonly path: string; readonly journal: string };

function newFiles(): CrashFiles {
  const folder = mkdtempSync(join(tmpdir(), "aperture-runtime-"));
  folders.push(folder);
  return { path: join(folder, "space.db"), journal: join(folder, "journal") };
}

/** An agent that calls three tools at once, of which the second takes a minute. */
function start({ path, journal }: CrashFiles): Child {
  return startChild(resolve("test/runtime/crash-child.mjs"), [resolve("dist"), path, journal]);
}

async function kill(child: Child): Promise<void> {
  child.process.kill("SIGKILL");
  await child.ended;
}

/** The names of the tools that ran, one entry for each time. */
function toolsRun({ journal }: CrashFiles): readonly string[] {
  try {
    return readFileSync(journal, "utf8").trim().split("\n").sort();
  } catch {
    return [];
  }
}

describe("a run that is killed", () => {
  it("in the middle of a tool round is finished by the next start, and each tool ran once", async () => {
    const files = newFiles();
    const first = start(files);
    expect(await first.said((line) => line === "waiting")).toBe("waiting");
    await kill(first);
    expect(toolsRun(files)).toEqual(["first", "second", "third"]);
    const again = start(files);
    const answer = await again.said((line) => line.startsWith("said I got"));
    expect(answer).toContain("first done");
    expect(answer).toContain("third done");
    expect(answer).toContain("This call was cut off");
    expect((await again.ended).code).toBe(0);
    expect(toolsRun(files)).toEqual(["first", "second", "third"]);
  }, 60_000);

  it("at any moment continues with the next start, and no tool ran twice", async () => {
    const random = seededRandom(7);
    for (let round = 0; round < (isLong ? 40 : 4); round += 1) {
      const files = newFiles();
      const first = start(files);
      await pause(150 + random.below(500));
      await kill(first);
      const again = start(files);
      expect(await again.said((line) => line.startsWith("said I got") || line === "waiting")).not.toBeNull();
      await kill(again);
      const names = toolsRun(files);
      expect(names).toEqual([...new Set(names)]);
    }
  }, 600_000);
});
