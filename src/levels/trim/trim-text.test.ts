import { describe, expect, test } from "vitest";
import type { Json } from "../../base/index.ts";
import { trimText } from "./trim-text.ts";

function trimmed(text: string, input: Json | null = null): string {
  return trimText({ kind: "tool-result", text, tool: null, input }) ?? "not trimmed";
}

const rows = (count: number, row: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => row(at)).join("\n");

test("a short text is not trimmed", () => {
  expect(trimText({ kind: "tool-result", text: "one\ntwo\nthree", tool: null, input: null })).toBeNull();
});

describe("of code", () => {
  const body = (name: string) =>
    `export function ${name}(id: string): void {\n${rows(20, (at) => `  work(id, ${at % 3});`)}\n}`;
  const code = ["openStore", "loadState", "closeStore"].map(body).join("\n\n");

  test("the declarations stay", () => {
    const kept = trimmed(code, { path: "src/a.ts" });
    for (const name of ["openStore", "loadState", "closeStore"])
      expect(kept).toContain(`export function ${name}(id: string): void {`);
  });

  test("numbers of lines show what is missing, so one marker is enough", () => {
    const numbered = code
      .split("\n")
      .map((line, at) => `${at + 1}→${line}`)
      .join("\n");
    const kept = trimmed(numbered, { path: "src/a.ts" });
    expect(kept.match(/\[…/g)).toHaveLength(1);
    expect(kept).toContain("lines left out; numbers show where]");
  });
});

test("of a diff the files and the places stay", () => {
  const file = (name: string) =>
    `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -10,30 +10,31 @@ function old() {\n` +
    rows(30, (at) => (at === 15 ? "+  added();" : "   same();"));
  const kept = trimmed(["one.ts", "two.ts"].map(file).join("\n"));
  for (const name of ["one.ts", "two.ts"]) expect(kept).toContain(`diff --git a/${name} b/${name}`);
  expect(kept.match(/^@@ /gm)).toHaveLength(2);
});

describe("of what a program printed", () => {
  test("every error stays, and how it ended, in less than half of the text", () => {
    const log = rows(400, (at) => (at % 100 === 50 ? `check ${at} failed` : `check ${at % 10} is fine`));
    const kept = trimmed(`${log}\n396 passed`, { command: "npm test" });
    for (const at of [50, 150, 250, 350]) expect(kept).toContain(`check ${at} failed`);
    expect(kept).toContain("396 passed");
    expect(kept).toMatch(/\[…\d+ lines left out\]/);
    expect(kept.length).toBeLessThan(log.length / 2);
  });

  test("a flood of errors that differ in numbers only is cut as well", () => {
    const kept = trimmed(rows(600, (at) => `ERROR request ${at} failed after ${at} ms`));
    expect(kept.split("\n").length).toBeLessThan(60);
    expect(kept).toContain("ERROR request 0 failed after 0 ms");
  });

  test("lines that differ in numbers only are shown once", () => {
    const kept = trimmed(rows(300, (at) => `step ${at} is done`));
    expect(kept.split("\n").length).toBeLessThan(20);
  });
});

test("of one long line pieces stay, and the marker says how much is missing between", () => {
  const items = Array.from({ length: 200 }, (_, at) => ({ id: at, state: "open", label: "the same text" }));
  const json = JSON.stringify([...items, { id: 200, state: "open", label: "see src/levels/units.ts" }]);
  const kept = trimmed(json);
  expect(kept).toContain("src/levels/units.ts");
  expect(kept).toMatch(/\[…\d+ch\]/);
  const missing = [...kept.matchAll(/\[…(\d+)ch\]/g)].map(([, count]) => Number(count));
  const shown = kept.replace(/\[…\d+ch\]/g, "").length;
  expect(missing.reduce((sum, one) => sum + one, shown)).toBe(json.length);
});

test("of prose the beginning, the headings and what must be stay", () => {
  const filler = rows(40, () => "People wrote a good deal here that says little about what is to be done.");
  const kept = trimmed(`# Plan\n\n${filler}\n\n## Limits\n\nNever touch the ledger.\n\n${filler}`);
  for (const line of ["# Plan", "## Limits", "Never touch the ledger."]) expect(kept).toContain(line);
});

test("of a page what a reader sees stays, not what the browser reads", () => {
  const script = `<script>${"function q(){return window.dataLayer.push(arguments)}".repeat(60)}</script>`;
  const filler = "<p>Some words about nothing in particular are here, to fill the page with text.</p>";
  const kept = trimmed(
    `<!doctype html><html><head><title>Guide</title>${script}</head><body><h1>Installing the store</h1>` +
      `<p>You must not use version 3.2.</p>${filler.repeat(40)}<h2>Settings</h2></body></html>`,
  );
  for (const text of ["Guide", "Installing the store", "You must not use version 3.2.", "Settings"])
    expect(kept).toContain(text);
  expect(kept.match(/dataLayer/g)?.length ?? 0).toBeLessThan(4);
});
