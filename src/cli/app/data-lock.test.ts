import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockData } from "./data-lock.ts";

const folder = () => mkdtempSync(join(tmpdir(), "aperture-lock-"));

test("one process holds the lock, and the next one gets it after its release", async () => {
  const data = folder();
  const first = await lockData(data);
  expect(first.held).toBe(true);
  expect(statSync(join(data, "lock")).mode & 0o777).toBe(0o600);
  expect(await lockData(data)).toEqual({ held: false, by: { pid: process.pid, verb: "up" } });
  if (first.held) first.release();
  expect((await lockData(data)).held).toBe(true);
});

test("a lock that is about to be released is waited for", async () => {
  const data = folder();
  const first = await lockData(data);
  setTimeout(() => first.held && first.release(), 300);
  expect((await lockData(data)).held).toBe(true);
});

test("a lock of a dead process, or a damaged one, is free", async () => {
  for (const left of ['{"pid":4194999}', "", "{"]) {
    const data = folder();
    writeFileSync(join(data, "lock"), left);
    expect((await lockData(data)).held).toBe(true);
  }
});

test("a folder that cannot be written needs no lock", async () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  expect((await lockData(join(file, "data"))).held).toBe(true);
});
