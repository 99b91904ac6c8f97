import { describe, expect, it } from "vitest";
import { routes } from "./contract.ts";
import {
  allowedMethods,
  allowsMethod,
  isOwnPath,
  matchRoute,
  parseControlRequest,
  parseRange,
  queryProblem,
} from "./match-route.ts";

const exampleOf = (path: string) =>
  path.replace(":session", "s1").replace(":block", "7").replace(":exchange", "3").replace(":approval", "3");

describe("the routes of the contract", () => {
  it.each(routes)("$name is found by its path, and its path is ours", (route) => {
    const path = exampleOf(route.path);
    const matched = matchRoute(parseControlRequest(route.method, path));
    expect(matched?.route.name).toBe(route.name);
    expect(isOwnPath(`${path}?x=1`)).toBe(true);
  });

  it("have names and addresses of their own", () => {
    expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
    expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
  });

  it("give the parts of an address by name", () => {
    const matched = matchRoute(parseControlRequest("GET", "/api/v1/sessions/last/blocks/27?at=3"));
    expect(matched?.params).toEqual({ session: "last", block: "27" });
  });

  it.each([
    "/api/v1",
    "/api/v1/",
    "/api/v1/sessions/",
    "/api/v1/sessions/s1/blocks/x",
    "/s/x",
    "/assets/a.js",
  ])("do not include %s", (path) => {
    expect(matchRoute(parseControlRequest("GET", path))).toBeNull();
  });
});

describe("isOwnPath", () => {
  it.each([
    "/v1/messages",
    "/anthropic/v1/messages",
    "/api/v10/x",
    "/loginx",
    "/assetsx",
    "/sx",
    "",
    "//",
    "/approvalsx",
  ])("leaves %s to the models' APIs", (path) => {
    expect(isOwnPath(path)).toBe(false);
  });
});

describe("methods", () => {
  it("HEAD is allowed where GET is, except for login", () => {
    for (const route of routes) {
      expect(allowsMethod(route, "HEAD")).toBe(route.method === "GET" && route.name !== "login");
      expect(allowsMethod(route, "DELETE")).toBe(route.method === "DELETE");
    }
    const paths = ["/api/v1/health", "/login", "/api/v1/logout", "/api/v1/sessions/s1/selection"];
    expect(paths.map(allowedMethods)).toEqual(["GET, HEAD", "GET", "POST", "GET, HEAD, PUT"]);
  });
});

describe("a range", () => {
  it.each([
    ["10..25", { first: 10, last: 25 }],
    ["7", { first: 7, last: 7 }],
    ["7..7", { first: 7, last: 7 }],
    ["25..10", null],
    ["..3", null],
    ["3..", null],
    ["a..b", null],
    ["1..2..3", null],
    ["", null],
  ])("%j", (text, range) => {
    expect(parseRange(text)).toEqual(range);
  });
});

describe("a query", () => {
  const problem = (url: string) => {
    const request = parseControlRequest("GET", url);
    const route = matchRoute(request)?.route;
    return route === undefined ? undefined : queryProblem(request, route)?.message;
  };

  it.each([
    ["/api/v1/sessions?limit=0", "limit must be from 1 to 1000"],
    ["/api/v1/sessions?limit=1001", "limit must be from 1 to 1000"],
    ["/api/v1/sessions?limit=1&limit=2", "limit is given twice"],
    ["/api/v1/sessions?limti=1", "limti is not known here"],
    ["/api/v1/sessions?%3Cscript%3E=1", "a parameter is not known here"],
    ["/api/v1/sessions/s1/state?at=-1", "at must be a whole number"],
    ["/api/v1/sessions/s1/state?at=1e3", "at must be a whole number"],
    ["/api/v1/sessions/s1/state?at=", "at must be a whole number"],
  ])("like %s is refused by name", (url, sentence) => {
    expect(problem(url)).toBe(`Invalid query: ${sentence}.`);
  });

  it.each([
    "/api/v1/sessions?limit=1000&before=5-x",
    "/api/v1/events?session=last&after=0",
    "/login?code=a-b_c",
  ])("like %s is fine", (url) => {
    expect(problem(url)).toBeUndefined();
  });
});
