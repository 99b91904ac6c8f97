// The layer rules are code too: each must catch the mistake it exists for, and leave its neighbours alone.
import { describe, expect, test } from "vitest";
import { findCycles } from "./cycles.ts";
import { scan } from "./scan.ts";

/** Doors for every folder used below, so that only the planted mistake is reported. */
const doors = {
  "src/base/index.ts": 'export { assert } from "./assert.ts";',
  "src/base/assert.ts": "export function assert() {}",
  "src/engine/index.ts": "export const a = 1;",
  "src/store/index.ts": "export const a = 1;",
};

function rulesFor(files: Record<string, string>): string[] {
  const map = new Map(Object.entries({ ...doors, ...files }));
  const found = scan({ files: map, dependencies: ["@scope/sqlite"], optional: ["@scope/client"] });
  return found.map(({ where, rule }) => `${where} ${rule}`);
}

test("a clean tree has no violations", () => {
  expect(rulesFor({})).toEqual([]);
});

describe("direction", () => {
  test("upward, and between the two ways in", () => {
    expect(rulesFor({ "src/base/x.ts": '\nimport { a } from "../engine/index.ts";' })).toEqual([
      "src/base/x.ts:2 wrong direction: src/engine/index.ts",
    ]);
    const ways = { "src/proxy/index.ts": "", "src/runtime/index.ts": 'import "../proxy/index.ts";' };
    expect(rulesFor(ways)).toEqual(["src/runtime/index.ts:1 wrong direction: src/proxy/index.ts"]);
  });

  test.each([
    ["type-only import", 'import type { A } from "../store/index.ts";'],
    ["inline type", 'type A = import("../store/index.ts").A;'],
    ["re-export", 'export { a } from "../store/index.ts";'],
    ["import for its effect", 'import "../store/index.ts";'],
    ["several lines", 'import {\n  a,\n  type B,\n} from "../store/index.ts";'],
    ["namespace", 'import * as store from "../store/index.ts";'],
  ])("%s counts", (_name, source) => {
    expect(rulesFor({ "src/engine/x.ts": source })).toContainEqual(
      expect.stringMatching(/^src\/engine\/x\.ts:\d wrong direction: src\/store\/index\.ts$/),
    );
  });

  test("a lower layer's door is open", () => {
    expect(rulesFor({ "src/engine/x.ts": 'import { assert } from "../base/index.ts";' })).toEqual([]);
  });

  test("config is for the outermost layers", () => {
    const config = { "src/config/index.ts": "" };
    const source = 'import "../config/index.ts";';
    expect(rulesFor({ ...config, "src/cli/index.ts": source })).toEqual([]);
    expect(rulesFor({ ...config, "src/host/index.ts": source })).toEqual([
      "src/host/index.ts:1 wrong direction: src/config/index.ts",
    ]);
  });

  test("nothing in src reaches out of it, and targets exist", () => {
    expect(rulesFor({ "src/engine/x.ts": 'import "../../test/a.ts";' })).toEqual([
      "src/engine/x.ts:1 import from outside src: test/a.ts",
    ]);
    expect(rulesFor({ "src/engine/x.test.ts": 'import "../../test/support/a.ts";' })).toEqual([]);
    expect(rulesFor({ "src/engine/x.ts": 'import "./gone.ts";' })).toEqual([
      "src/engine/x.ts:1 import of a file that does not exist: src/engine/gone.ts",
    ]);
  });
});

describe("doors", () => {
  test("an inner door is open to layers that may enter it, or the whole folder", () => {
    const frames = { "src/engine/frames/index.ts": "export const a = 1;" };
    const inner = 'import { a } from "../engine/frames/index.ts";';
    expect(rulesFor({ ...frames, "src/store/x.ts": inner, "src/log/index.ts": inner })).toEqual([]);
    expect(rulesFor({ "src/store/x.ts": 'import { a } from "../engine/index.ts";' })).toEqual([
      "src/store/x.ts:1 wrong direction: src/engine/index.ts",
    ]);
    expect(rulesFor({ "src/store/x.test.ts": 'import { a } from "../engine/index.ts";' })).toEqual([]);
  });

  test("bypassed", () => {
    expect(rulesFor({ "src/engine/x.ts": 'import { assert } from "../base/assert.ts";' })).toEqual([
      "src/engine/x.ts:1 bypassed door: src/base/assert.ts",
    ]);
  });

  test("wide open", () => {
    const source = 'import "../base/index.ts";\nexport * from "./x.ts";';
    expect(rulesFor({ "src/engine/index.ts": source, "src/engine/x.ts": "" })).toEqual([
      "src/engine/index.ts:2 export *",
    ]);
  });

  test("missing, or in front of an unknown folder, or a file in no folder", () => {
    expect(rulesFor({ "src/notes/x.ts": "" })).toEqual(["src/notes no door"]);
    expect(rulesFor({ "src/utils/index.ts": "" })).toEqual(["src/utils unknown folder"]);
    expect(rulesFor({ "src/main.ts": "" })).toEqual(["src no file directly in src"]);
  });
});

describe("cycles", () => {
  test("between files, types included", () => {
    const files = {
      "src/engine/x.ts": 'import type { Y } from "./y.ts";',
      "src/engine/y.ts": 'import { x } from "./x.ts";',
    };
    expect(rulesFor(files)).toEqual(["src/engine/x.ts, src/engine/y.ts cycle between files"]);
  });

  test("between folders, even when no file takes part twice", () => {
    const files = {
      "src/base/x.ts": 'import "../engine/index.ts";',
      "src/engine/x.ts": 'import "../base/index.ts";',
    };
    expect(rulesFor(files)).toContain("base, engine cycle between folders");
  });

  test("the search finds groups, not chains", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", ["a"]],
      ["d", ["e", "gone"]],
      ["e", []],
      ["f", ["f"]],
    ]);
    expect(findCycles(graph)).toEqual([["a", "b", "c"], ["f"]]);
  });
});

describe("packages and built-in modules", () => {
  test("no third-party import at the core", () => {
    expect(rulesFor({ "src/engine/x.ts": 'import { z } from "@scope/sqlite";' })).toEqual([
      "src/engine/x.ts:1 third-party import: @scope/sqlite",
    ]);
  });

  test("only declared packages further out", () => {
    const source = 'import { z } from "@scope/sqlite/deep";\nimport left from "left-pad";';
    expect(rulesFor({ "src/store/x.ts": source })).toEqual(["src/store/x.ts:2 undeclared package: left-pad"]);
  });

  test("an optional package only where its line is reached, or as a type", () => {
    const lazy = 'import type { A } from "@scope/client";\nconst load = () => import("@scope/client");';
    expect(rulesFor({ "src/store/x.ts": lazy })).toEqual([]);
    expect(rulesFor({ "src/store/x.ts": 'import { A } from "@scope/client/deep";' })).toEqual([
      "src/store/x.ts:1 optional package at the start: @scope/client/deep",
    ]);
  });

  test("no built-in module in a pure folder, with or without prefix, by any way", () => {
    const sources = [
      'import "node:fs";',
      'import "fs";',
      'const f = require("node:zlib");',
      'import("node:net");',
    ];
    for (const source of sources) {
      expect(rulesFor({ "src/engine/x.ts": source }), source).toEqual([
        expect.stringContaining("built-in module in a pure folder"),
      ]);
    }
    expect(rulesFor({ "src/store/x.ts": 'import "node:fs"; import("node:sqlite");' })).toEqual([]);
  });

  test("hashing has one door, and only for hashing", () => {
    const hash = (names: string) => ({ "src/base/hash.ts": `import { ${names} } from "node:crypto";` });
    expect(rulesFor(hash("hash"))).toEqual([]);
    expect(rulesFor(hash("hash, randomBytes"))).toHaveLength(1);
    expect(rulesFor({ "src/base/hash.ts": 'import crypto from "node:crypto";' })).toHaveLength(1);
    expect(rulesFor({ "src/engine/x.ts": 'import { hash } from "node:crypto";' })).toHaveLength(1);
  });

  test("a computed target is refused: it would escape every rule", () => {
    expect(rulesFor({ "src/store/x.ts": "await import(name);" })).toEqual([
      "src/store/x.ts:1 computed import",
    ]);
  });
});

describe("purity", () => {
  test.each([
    ["Date.now", "const t = Date.now();"],
    ["new Date(", "const t = new Date(0);"],
    ["performance.", "const t = performance.now();"],
    ["Math.random", "const n = Math.random();"],
    ["crypto", "const n = crypto.randomUUID();"],
    ["crypto", "const n = globalThis.crypto;"],
    ["process.", "const e = process.env;"],
    ["process.", 'const e = process["env"];'],
    ["import.meta", "const u = import.meta.url;"],
    ["console.", "console.log(1);"],
    ["fetch(", "fetch(url);"],
    ["setTimeout", "setTimeout(f, 1);"],
    ["setInterval", "setInterval(f, 1);"],
    ["async", "const f = async () => 1;"],
    ["async", "async function f() {}"],
    ["await", "await f();"],
    ["Promise", "type P = Promise<number>;"],
    ["Promise", `const s = \`\${Promise.resolve()}\`;`],
  ])("%s is found in: %s", (name, source) => {
    expect(rulesFor({ "src/engine/x.ts": source })).toContain(`src/engine/x.ts:1 impure: ${name}`);
    expect(rulesFor({ "src/store/x.ts": source })).toEqual([]);
  });

  test("comments, strings, patterns and look-alikes are left alone", () => {
    const source = [
      "// Date.now() and await are only mentioned",
      "/* Promise, async, console.log */",
      'const a = "process.env", b = `Math.random ${c} fetch(`;',
      "const d = /setTimeout|new Date\\(/;",
      "const e = state.process.id + view.performance.score + x.fetch(1);",
      "const f = { async: true, await: 1 }; const asyncTotal = f.async; const processed = [0];",
      "const g = Date.UTC(2026, 0) + Date.parse(text); type PromiseKept = 1;",
    ].join("\n");
    expect(rulesFor({ "src/engine/x.ts": source })).toEqual([]);
  });
});

describe("unit tests", () => {
  test("may wait, read the clock and use the test tools, but keep the direction", () => {
    const source = [
      'import fc from "fast-check";',
      'import { test } from "vitest";',
      'import { readFileSync } from "node:fs";',
      'import { assert } from "../base/index.ts";',
      'import { a } from "./index.ts";',
      'import { clock } from "../testing/index.ts";',
      "await Date.now();",
    ].join("\n");
    const testing = { "src/testing/index.ts": "" };
    expect(rulesFor({ ...testing, "src/engine/x.test.ts": source })).toEqual([]);
    expect(rulesFor({ "src/engine/x.test.ts": 'import { a } from "../store/index.ts";' })).toHaveLength(1);
    expect(rulesFor({ "src/engine/x.test.ts": 'import { a } from "../base/assert.ts";' })).toHaveLength(1);
    expect(rulesFor({ "src/engine/x.test.ts": 'import left from "left-pad";' })).toHaveLength(1);
  });

  test("their tools stay out of the product", () => {
    expect(rulesFor({ "src/store/x.ts": 'import { test } from "vitest";' })).toEqual([
      "src/store/x.ts:1 undeclared package: vitest",
    ]);
  });
});
