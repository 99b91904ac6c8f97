// Whole sessions as files: what the client does is written by people, what comes of it by this test.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accounted } from "./explain-diff.ts";
import { playSession } from "./play-session.ts";
import { bodiesText, fixedTextsText, manifestsText, sessionText } from "./print-session.ts";
import { casesFolder, readSession } from "./session-file.ts";

const names = readdirSync(casesFolder);
const isWriting = process.env["APERTURE_GOLDEN"] === "write";

/** Filled by the tests of the sessions, in order. */
const manifests: string[] = [];
const bodies: string[] = [];

describe.each(names)("%s", (name) => {
  test("is what it was; APERTURE_GOLDEN=write writes the files anew", async () => {
    const session = readSession(name);
    const played = await playSession(session);
    expect(played.gaps).toBe(0);
    for (const { posted, step } of played.exchanges) {
      expect(posted.attempts.map(({ problem }) => problem)).toEqual([null]);
      expect([step.note, posted.sending.rendering]).toEqual([step.note, step.rendering ?? "managed"]);
    }
    // A diff, applied to what the client sent, gives what went upstream: nothing differs for no reason.
    const diffs = await accounted(played.store);
    expect(diffs.length).toBeGreaterThan(0);
    expect(diffs.flatMap(({ missing }) => missing)).toEqual([]);
    manifests.push(manifestsText(name, played));
    bodies.push(bodiesText(name, played));
    expectFile(join(casesFolder, name, "session.txt"), sessionText(session, played));
  });
});

test("every manifest is what it was", () => {
  expectFile("test/golden/manifests.txt", manifests.join("\n"));
});

test("every body that went upstream is what it was, to the byte", () => {
  expectFile("test/golden/bodies.txt", bodies.join("\n"));
});

test("our tools and instructions are what they were", () => {
  expectFile("test/golden/fixed-texts.txt", fixedTextsText());
});

function expectFile(path: string, text: string): void {
  if (isWriting) writeFileSync(path, text);
  expect(existsSync(path), `${path} is there`).toBe(true);
  expect(text).toBe(readFileSync(path, "utf8"));
}
