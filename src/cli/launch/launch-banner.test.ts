import { expect, test } from "vitest";
import { managedFromTokens } from "../../host/index.ts";
import { launchBanner, managedFrom } from "./launch-banner.ts";

test("the banner names the size from which streams are managed", () => {
  expect(managedFrom).toBe(`${managedFromTokens("claude-code") / 1_000}k`);
});

test.each([
  [true, /^managed /],
  [false, /^relayed {2}everything: sessions on a subscription login/],
  [null, /^login .* did not say whether it manages subscription logins/],
])("if the proxy reports %s for subscription logins, the banner says so", (managesLogins, line) => {
  const proxy = { url: "http://127.0.0.1:4400", upstreams: null, mode: "auto", managesLogins, panel: null };
  const facts = { version: "1.2.3", client: "claude", proxy, wantedMode: undefined } as const;
  expect(launchBanner({ ...facts, isOnLogin: true }).at(-1)).toMatch(line);
  expect(launchBanner({ ...facts, isOnLogin: false }).at(-1)).toMatch(/^managed /);
});

test("a proxy that reports no mode and no upstreams gets a banner without them", () => {
  const proxy = {
    url: "http://127.0.0.1:4400",
    upstreams: null,
    mode: null,
    managesLogins: null,
    panel: null,
  };
  const lines = launchBanner({
    version: "1.2.3",
    client: "codex",
    proxy,
    wantedMode: undefined,
    isOnLogin: false,
  });
  expect(lines[0]).toBe("aperture 1.2.3  proxy 127.0.0.1:4400 -> the upstreams it was started with");
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^relayed {2}everything/)]);
});
