import { expect, test } from "vitest";
import { isForwarded } from "./run-child.ts";

test("signals are forwarded, except those of keys, which reach the client anyway", () => {
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"] as const) {
    expect(isForwarded(signal, false), signal).toBe(true);
  }
  expect(isForwarded("SIGTERM", true)).toBe(true);
  expect(isForwarded("SIGHUP", true)).toBe(true);
  expect(isForwarded("SIGINT", true)).toBe(false);
  expect(isForwarded("SIGQUIT", true)).toBe(false);
});
