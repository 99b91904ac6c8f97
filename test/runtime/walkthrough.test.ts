// The page that follows one activation is written from what the code does, so that it stays true.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { activationText, walkedSpace } from "./activation-walkthrough.ts";

const page = "docs/walkthrough/one-activation.md";

test("the walkthrough matches the code; APERTURE_GOLDEN=write writes it again", async () => {
  const text = activationText(await walkedSpace());
  if (process.env["APERTURE_GOLDEN"] === "write") writeFileSync(page, text);
  expect(existsSync(page)).toBe(true);
  expect(text).toBe(readFileSync(page, "utf8"));
});

test("the files that the walkthrough names exist", () => {
  const files = [...readFileSync(page, "utf8").matchAll(/`([a-z/-]+\.ts)`/g)].map(
    ([, name]) => `src/runtime/${name}`,
  );
  expect(files.length).toBeGreaterThan(8);
  expect(files.filter((path) => !existsSync(path))).toEqual([]);
});
