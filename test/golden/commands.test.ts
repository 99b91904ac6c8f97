// Every command in both forms: what it writes down and what the model sees next; and a memory as a story.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verbs } from "../../src/commands/index.ts";
import { commandPage, memoryStory } from "./command-texts.ts";

const folder = "test/golden/commands";
const isWriting = process.env["APERTURE_GOLDEN"] === "write";

type Case = { readonly form: string; readonly first?: readonly string[] };

/** By file; the part of a name before the point is the verb. */
const cases: Readonly<Record<string, Case>> = {
  expand: { form: "@expand(block-6)" },
  "expand.unknown": { form: "@expand(block-600)" },
  recall: { form: '@recall("lent books")' },
  compress: { form: "@compress(block-6, level: minimal)" },
  "compress.user": { form: "@compress(block-4, level: minimal)" },
  pin: { form: "@pin(block-6, position: bottom)" },
  unpin: { form: "@unpin(block-6)", first: ["@pin(block-6, position: top)"] },
  focus: { form: "@focus(block-6, block-7)" },
  archive: { form: '@archive(block-5..block-7, reason: "the shelves are in order")' },
  "archive.system": { form: '@archive(block-3, reason: "too long")' },
  update: { form: '@update(block-7, text: "The shelves are in order; shelf 7 has 49 books.")' },
  "update.incomplete": { form: '@update(block-7, text: "All is well.")' },
  create: { form: '@create("The reading room opens at nine.", topic: "opening hours")' },
  diff: { form: "@diff(since: 1)", first: ["@pin(block-6, position: top)"] },
  manifest: { form: "@manifest(detailed)" },
};

function compare(file: string, written: string): void {
  const path = join(folder, file);
  if (isWriting) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, written);
  }
  expect(existsSync(path), `${path} is there`).toBe(true);
  expect(written).toBe(readFileSync(path, "utf8"));
}

/** Filled by the tests of the commands, in order. */
const manifests: string[] = [];

describe("commands are what they were; APERTURE_GOLDEN=write writes the files anew", () => {
  test.each(Object.entries(cases))("%s", async (name, { form, first }) => {
    const page = await commandPage(form, first);
    manifests.push([name, ...page.manifests].join("\n"));
    compare(`${name}.txt`, page.text);
  });

  test("the manifests behind them are, too", () => {
    compare("manifests.txt", `${manifests.join("\n\n")}\n`);
  });

  test("every verb is there, and no file without a case", () => {
    const named = new Set(Object.keys(cases).map((name) => name.split(".")[0]));
    expect(verbs.filter((verb) => !named.has(verb))).toEqual([]);
    const files = [...Object.keys(cases).map((name) => `${name}.txt`), "manifests.txt", "memory.md"].sort();
    expect(readdirSync(folder).sort()).toEqual(files);
  });
});

const note = (input: Record<string, string>) => ({ type: "tool_use" as const, name: "aperture_note", input });
const says = (words: string) => ({ type: "text" as const, text: words });

test("the life of a memory: inject, read, act, reflect, compact", async () => {
  const story = await memoryStory([
    {
      title: "1. Inject",
      about: "Something worth keeping is said, and the model notes it down. It is a block like any other.",
      says: "Shelf 7 must never hold more than 50 books. Remember it.",
      reply: [
        note({ verb: "create", text: "Shelf 7 must never hold more than 50 books.", topic: "shelf 7" }),
      ],
    },
    {
      title: "2. Read",
      about: "The manifest counts the note among what stays in front. The model reads what it needs.",
      says: "How many are on it?",
      reply: [{ type: "tool_use", name: "read", input: { path: "shelves.txt" } }],
    },
    {
      title: "3. Act",
      about: "It works with what it knows, and keeps what it works with in focus.",
      says: "Then put two more there.",
      reply: [{ type: "tool_use", name: "aperture_manage", input: { verb: "focus", target: "#1..#9" } }],
    },
    {
      title: "4. Reflect",
      about:
        "What was learned replaces what was known. A note that says less than the older one does not replace it: both " +
        "stay, and the model is told what is missing. One that says all of it does.",
      says: "What do we know now?",
      reply: [
        note({ verb: "create", text: "Shelf 7 is nearly full.", supersedes: "1001" }),
        note({ verb: "create", text: "Shelf 7 must never hold more than 50 books; it holds 49 now." }),
        { type: "tool_use", name: "aperture_archive", input: { target: "9", reason: "the count is noted" } },
      ],
    },
    {
      title: "5. Compact",
      about:
        "After a long rest nothing is cached, so what was archived leaves the window. The model says again what it " +
        "has noted: the note is marked as said anew, and stays.",
      says: "I am back. What about shelf 7?",
      reply: [says("Shelf 7 must never hold more than 50 books; it holds 49 now.")],
    },
    {
      title: "6. Afterwards",
      about: "The next turn says so.",
      says: "Good.",
      reply: [says("Yes.")],
    },
  ]);
  compare("memory.md", `# The life of a memory\n\n${story}`);
});
