import { expect, test } from "vitest";
import { relayLimits } from "./options.ts";
import { checkedLookup, openUpstreams } from "./upstreams.ts";

function lookUp(name: string, all: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    checkedLookup(name, { all }, (error, address) => resolve(error === null ? address : error.code));
  });
}

test("a name with only link-local addresses does not resolve", async () => {
  expect(await lookUp("169.254.169.254", true)).toBe("ELINKLOCAL");
  expect(await lookUp("169.254.169.254", false)).toBe("ELINKLOCAL");
  expect(await lookUp("fe80::1", true)).toBe("ELINKLOCAL");
});

test("other names resolve normally", async () => {
  expect(await lookUp("127.0.0.1", true)).toEqual([{ address: "127.0.0.1", family: 4 }]);
  expect(await lookUp("127.0.0.1", false)).toBe("127.0.0.1");
  expect(await lookUp("no-such-host.invalid", true)).toMatch(/^E(?:NOTFOUND|AI_AGAIN)$/);
});

function open(url: string) {
  const rest = new URL("https://api.example");
  const upstreams = { anthropic: new URL(url), openai: rest, gemini: rest, bedrock: rest };
  return openUpstreams({ ...upstreams, named: new Map([["anthropic", rest]]) }, relayLimits).get("anthropic");
}

test("an upstream keeps the path of its address, and the port unless it is the default", () => {
  expect(open("https://api.example:443/base//")).toMatchObject({
    host: "api.example",
    prefix: "/base",
    isSecure: true,
  });
  expect(open("http://[::1]:8080")).toMatchObject({ host: "[::1]:8080", prefix: "", isSecure: false });
});

test("a user's upstream cannot take a built-in name", () => {
  expect(open("https://first.example")?.host).toBe("first.example");
});

test("a link-local address is refused even if the settings let it through", () => {
  expect(() => open("http://169.254.169.254")).toThrow();
});
