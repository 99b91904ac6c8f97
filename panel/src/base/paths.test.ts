import { describe, expect, it } from "vitest";
import { pathOf, routeOf } from "./paths.ts";

describe("addresses", () => {
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
  ])("%s leads to a place that has this address", (address) => {
    const [path = "", search = ""] = address.split("?");
    expect(pathOf(routeOf(path, search))).toBe(address);
  });

  it("what is no number is not taken for one", () => {
    expect(routeOf("/s/abc", "?at=1e3&block=-1")).toEqual({
      screen: "context",
      session: "abc",
      at: null,
      block: null,
      stream: null,
    });
  });
});
