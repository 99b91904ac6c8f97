// What the page about faults says is proved is proved: the files are there, and so are the titles it quotes.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { page } from "./markdown.ts";

const rows = page("docs/reference/faults.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| Fault |"))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

const proved = rows.filter(([, , proof]) => proof !== "not yet");

test("every row has a fault, its effect and its proof", () => {
  expect(rows.length).toBeGreaterThanOrEqual(43);
  expect(rows.filter((cells) => cells.length !== 3)).toEqual([]);
});

test.each(proved.map(([fault = "", , proof = ""]) => [fault, proof] as const))("%s", (_, proof) => {
  const [, file = "", title = ""] = /^\[\w+\]\(\.\.\/\.\.\/(\S+\.test\.ts)\) "([^"]+)"$/.exec(proof) ?? [];
  const path = join(process.cwd(), file);
  expect(file !== "" && existsSync(path), proof).toBe(true);
  expect(readFileSync(path, "utf8")).toContain(title);
});

test("only the faults of PostgreSQL are not proved yet", () => {
  const open = rows.filter(([, , proof]) => proof === "not yet").map(([fault]) => fault);
  expect(open).toEqual(["PostgreSQL down, slow, failing over"]);
});
