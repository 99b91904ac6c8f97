// What the code can say, the documentation explains: a heading per name, and none for a name that is gone.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ErrorCode, errorRegistry } from "../../src/base/errors.ts";
import { settingsTable } from "../../src/config/index.ts";
import { routes } from "../../src/control/contract.ts";
import { deltaTypes } from "../../src/engine/frames/delta.ts";
import { layers } from "../arch/layers.ts";
import { suites } from "../suites.mjs";
import { headings, page, tableWords } from "./markdown.ts";

/** The text of every source file that is not a test. */
function sourceFiles(): readonly string[] {
  const names = readdirSync("src", { recursive: true, encoding: "utf8" });
  const sources = names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  return sources.map((name) => readFileSync(join("src", name), "utf8"));
}

const errorCodes = Object.keys(errorRegistry) as readonly ErrorCode[];
const sorted = (names: readonly string[]) => [...names].sort();

describe("reference pages", () => {
  test("every error code has its heading, and every heading its code", () => {
    const found = headings(page("docs/reference/errors.md"), 2);
    expect(sorted(found)).toEqual(sorted(Object.keys(errorRegistry)));
  });

  test.each(errorCodes)("the page quotes what %s says", (code) => {
    const section = page("docs/reference/errors.md").split(`## ${code}\n`)[1]?.split("\n## ")[0];
    expect(section).toContain(`> ${errorRegistry[code]}`);
  });

  test("every error code is written in a source file besides the registry", () => {
    const source = sourceFiles().join("\n");
    expect(errorCodes.filter((code) => !source.includes(`"${code}"`))).toEqual([]);
  });

  test("every setting has its heading, and every heading its setting", () => {
    const found = headings(page("docs/reference/settings.md"), 2);
    expect(sorted(found)).toEqual(sorted(settingsTable.map(({ name }) => name)));
  });

  test.each([...settingsTable])("the page gives the default of $name", ({ name, defaultText }) => {
    const section = page("docs/reference/settings.md").split(`## ${name}\n`)[1]?.split("\n## ")[0];
    expect(section).toContain(`Default: \`${defaultText}\``);
  });

  test("every route has its heading, and every heading its route", () => {
    const found = headings(page("docs/reference/api.md"), 3);
    expect(sorted(found)).toEqual(sorted(routes.map(({ method, path }) => `${method} ${path}`)));
  });

  test.each([...routes])("the page names every parameter of $method $path", ({ method, path, query }) => {
    const section = page("docs/reference/api.md").split(`### ${method} ${path}\n`)[1]?.split("\n### ")[0];
    expect(section).toBeDefined();
    expect(query.filter((name) => section?.includes(`\`${name}\``) !== true)).toEqual([]);
  });

  test("every delta type has its heading, and every heading its delta type", () => {
    const found = headings(page("docs/reference/frame-format.md"), 2);
    const named = found.filter((heading) => /^[a-z]+(-[a-z]+)+$/.test(heading));
    expect(sorted(named)).toEqual(sorted(deltaTypes));
  });
});

describe("guides", () => {
  test("every suite is explained in CONTRIBUTING.md", () => {
    const words = tableWords(page("CONTRIBUTING.md"));
    expect(suites.map(({ name }) => name).filter((name) => !words.includes(name))).toEqual([]);
  });

  test("every layer is on the map in ARCHITECTURE.md", () => {
    const [, map = ""] = page("ARCHITECTURE.md").split("## Code map\n");
    const rows = tableWords(map.split("\n## ")[0] ?? "");
    expect(layers.map(({ folder }) => `src/${folder}`).filter((path) => !rows.includes(path))).toEqual([]);
  });

  test("the README has at most 150 lines", () => {
    expect(page("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });

  test("the README has a line for each of the two commands that matter", () => {
    const text = page("README.md");
    expect(text).toMatch(/^npm start\b/m);
    expect(text).toMatch(/^npm test\b/m);
  });
});
