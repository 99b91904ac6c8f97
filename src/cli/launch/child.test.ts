import { expect, test } from "vitest";
import { isPassedOn } from "./child.ts";

test("a signal that only we get is passed on; a key at the terminal has reached the client already", () => {
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"] as const) {
    expect(isPassedOn(signal, false), signal).toBe(true);
  }
  expect(isPassedOn("SIGTERM", true)).toBe(true);
  expect(isPassedOn("SIGHUP", true)).toBe(true);
  expect(isPassedOn("SIGINT", true)).toBe(false);
  expect(isPassedOn("SIGQUIT", true)).toBe(false);
});
