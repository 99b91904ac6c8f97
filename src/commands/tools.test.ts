import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCommand, longestCommands } from "../../test/support/any-command.ts";
import { commandCall } from "../../test/support/command-call.ts";
import { o200k } from "../../test/support/o200k.ts";
import { unwrap } from "../base/index.ts";
import { type Command, verbs } from "./command.ts";
import { printCommand } from "./grammar.ts";
import { commandFromCall, commandTools, isCommandTool } from "./tools.ts";

const printedCommand = (name: string, input: unknown): string =>
  printCommand(unwrap(commandFromCall(name, input)));

function problem(name: string, input: unknown): string {
  const result = commandFromCall(name, input);
  return result.ok ? "none" : result.error.message;
}

describe("the tools", () => {
  it("cost at most 480 tokens, and with the instructions less than 900", () => {
    expect(o200k(JSON.stringify(commandTools))).toBeLessThanOrEqual(480);
  });

  it("have flat inputs, and require only what they have", () => {
    for (const { name, schema } of commandTools) {
      expect(name).toMatch(/^aperture_[a-z]+$/);
      expect(Object.values(schema.properties).every(({ type }) => type === "string")).toBe(true);
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...schema.required]));
    }
  });

  it("offer every verb once, and a reason for every archive", () => {
    const offered = commandTools.flatMap(
      ({ name, schema }) => schema.properties["verb"]?.enum ?? [name.replace("aperture_", "")],
    );
    expect([...offered].sort()).toEqual([...verbs].sort());
    const archive = commandTools.find(({ name }) => name === "aperture_archive");
    expect(archive?.schema.required).toContain("reason");
  });

  it("are distinguished from a client's own", () => {
    expect(commandTools.every(({ name }) => isCommandTool(name))).toBe(true);
    expect(verbs.every((verb) => isCommandTool(`aperture_${verb}`))).toBe(true);
    for (const name of [
      "",
      "aperture_",
      "aperture_x",
      "read",
      "Aperture_read",
      "toString",
      "mcp__aperture_read",
    ]) {
      expect(isCommandTool(name), name).toBe(false);
    }
  });
});

describe("a call", () => {
  it("is read back as the command it was made of, with inputs that its tool has", () => {
    fc.assert(
      fc.property(anyCommand, fc.integer({ min: 1, max: 1e12 }), (given, from) => {
        const command: Command = given.verb === "expand" ? { ...given, from } : given;
        const { name, input } = commandCall(command);
        const tool = commandTools.find((each) => each.name === name);
        const known = Object.keys(tool?.schema.properties ?? {});
        expect(known).toEqual(expect.arrayContaining(Object.keys(input)));
        expect(Object.keys(input)).toEqual(expect.arrayContaining([...(tool?.schema.required ?? [])]));
        expect(unwrap(commandFromCall(name, JSON.parse(JSON.stringify(input))))).toEqual(command);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(longestCommands)("may be the longest $verb", (command) => {
    const { name, input } = commandCall(command);
    expect(unwrap(commandFromCall(name, input))).toEqual(command);
  });

  it.each([
    ["aperture_read", { verb: "expand", target: 27 }, "@expand(block-27)"],
    [
      "aperture_read",
      { verb: "expand", target: [27, "#28", "message-3"] },
      "@expand(block-27, block-28, message-3)",
    ],
    [
      "aperture_read",
      { verb: "recall", query: "token refresh", extra: { deep: [] } },
      '@recall("token refresh")',
    ],
    ["aperture_read", { verb: "recall", topic: "token, refresh" }, '@recall("token", "refresh")'],
    ["aperture_read", { verb: "recall", target: null, ids: [4] }, "@recall(block-4)"],
    ["aperture_read", { verb: "diff", since: 31 }, "@diff(since: 31)"],
    ["aperture_read", { verb: "manifest" }, "@manifest(detailed)"],
    ["aperture_read", { verb: "@Expand", target: "[27, 28]" }, "@expand(block-27, block-28)"],
    [
      "aperture_manage",
      { verb: "compress", target: "stale", level: "Minimal" },
      "@compress(stale, level: minimal)",
    ],
    ["aperture_manage", { verb: "archive", target: "3", reason: "old" }, '@archive(block-3, reason: "old")'],
    ["aperture_pin", { block: 3 }, "@pin(block-3, position: top)"],
    ["aperture_note", { text: "learned" }, '@create("learned")'],
    [
      "aperture_note",
      { verb: "create", text: "learned", supersedes: 4 },
      '@create("learned", supersedes: block-4)',
    ],
    ["aperture_note", { verb: "update", text: "now", target: "#4" }, '@update(block-4, text: "now")'],
  ])("%s %j is accepted in spite of its form", (name, input, text) => {
    expect(printedCommand(name, input)).toBe(text);
  });

  it.each([
    ["bash", {}, /there is no tool "bash"; use aperture_read, aperture_manage,/],
    ["aperture_read", {}, /a verb is missing: use expand, recall, diff or manifest/],
    [
      "aperture_manage",
      { verb: "drop", target: "3" },
      /"drop" is no verb: use compress, pin, unpin or focus/,
    ],
    ["aperture_archive", { target: "3" }, /archive needs a reason/],
    ["aperture_archive", { target: "3", reason: " " }, /archive needs a reason/],
    ["aperture_archive", { reason: "old" }, /archive needs a target/],
    ["aperture_read", { verb: "expand", target: { id: 3 } }, /expand needs a target/],
    ["aperture_read", { verb: "expand", target: ["3", '"open'] }, /is not closed/],
    ["aperture_note", { verb: "update", text: "x" }, /update takes one block/],
    ["aperture_note", null, /create needs a text/],
    ["aperture_note", "text", /create needs a text/],
    ["aperture_note", [1], /create needs a text/],
  ])("%s %j is refused with the right form", (name, input, pattern) => {
    expect(problem(name, input)).toMatch(pattern);
  });

  it("never throws, for any input of a model", () => {
    const name = fc.oneof(
      fc.constantFrom(...commandTools.map((tool) => tool.name), "aperture_pin"),
      fc.string(),
    );
    const field = fc.constantFrom("verb", "target", "text", "level", "since", "supersedes", "__proto__");
    const input = fc.oneof(
      fc.anything(),
      fc.dictionary(field, fc.oneof(fc.anything(), fc.constantFrom(...verbs))),
    );
    fc.assert(
      fc.property(name, input, (called, given) => {
        const result = commandFromCall(called, given);
        if (result.ok) expect(printCommand(result.value)).toMatch(/^@[a-z]+\(/);
        else expect(result.error.code).toBe("AP_COMMAND_INVALID");
      }),
      { numRuns: 1_000 },
    );
  });
});
