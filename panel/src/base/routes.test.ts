import { describe, expect, it } from "vitest";
import { parseRoute, pathOf } from "./routes.ts";

describe("a route", () => {
  it.each([
    "/",
    "/s/abc",
    "/s/abc?at=812",
    "/s/abc?at=812&block=27",
    "/s/abc?stream=2&block=27",
    "/s/abc/requests",
    "/s/abc/requests/12",
    "/s/abc/requests/12/upstream",
    "/s/abc/approvals",
    "/nowhere",
    "/s/abc/nowhere",
  ])("%s is parsed and written back unchanged", (address) => {
    const [path = "", search = ""] = address.split("?");
    expect(pathOf(parseRoute(path, search))).toBe(address);
  });

  it("ignores parameters that are not numbers", () => {
    expect(parseRoute("/s/abc", "?at=1e3&block=-1")).toEqual({
      screen: "context",
      session: "abc",
      at: null,
      block: null,
      stream: null,
    });
  });
});
