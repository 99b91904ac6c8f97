import { expect, test } from "vitest";
import { isPassThroughWanted } from "./read-request.ts";

test.each([
  [{}, false],
  [{ "x-aperture-bypass": "1" }, true],
  [{ "x-aperture-bypass": "true" }, true],
  [{ "x-aperture-bypass": "yes please" }, true],
  [{ "x-aperture-bypass": "0" }, false],
  [{ "x-aperture-bypass": " False " }, false],
  [{ "x-aperture-mode": "observe" }, true],
  [{ "x-aperture-mode": "OBSERVE" }, true],
  [{ "x-aperture-mode": "banana" }, true],
  [{ "x-aperture-mode": "auto" }, false],
  [{ "x-aperture-mode": "Ask" }, false],
  [{ "x-aperture-mode": "auto", "x-aperture-bypass": "1" }, true],
] as const)("headers %j make the request pass unchanged: %s", (headers, isPassed) => {
  expect(isPassThroughWanted(headers)).toBe(isPassed);
});
