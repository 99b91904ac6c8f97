// The texts that a model may read, each made from facts written by people.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { goldenText, readText, textsFolder } from "./note-texts.ts";

const isWriting = process.env["APERTURE_GOLDEN"] === "write";

test.each(readdirSync(textsFolder))("%s is what it was; APERTURE_GOLDEN=write writes it anew", (name) => {
  const path = join(textsFolder, name, "text.txt");
  const text = goldenText(readText(name));
  if (isWriting) writeFileSync(path, text);
  expect(existsSync(path), `${path} is there`).toBe(true);
  expect(text).toBe(readFileSync(path, "utf8"));
});
