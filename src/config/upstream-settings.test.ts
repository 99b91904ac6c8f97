import { describe, expect, test } from "vitest";
import { isLinkLocal } from "./link-local.ts";
import { readSettings } from "./settings.ts";

const anthropic = (url: string) => readSettings({ APERTURE_UPSTREAM_ANTHROPIC: url }, "/people/ada");

describe("an upstream", () => {
  test.each(["https://gateway.example", "http://127.0.0.1:8080/base", "https://[2001:db8::1]/x/y/"])(
    "may be %s",
    (url) => {
      const read = anthropic(url);
      expect(read.ok && read.settings.upstreams.anthropic.href).toBe(new URL(url).href);
    },
  );

  test.each([
    ["gateway.example", "URL"],
    ["ftp://gateway.example", "https://"],
    ["https://user:pass@gateway.example", "password"],
    ["https://gateway.example/?key=1", "query"],
    ["https://gateway.example/#x", "fragment"],
    ["http://169.254.169.254/latest", "link-local"],
    ["http://0xA9FEA9FE/", "link-local"],
    ["http://2852039166/", "link-local"],
    ["http://[fe80::1]/", "link-local"],
    ["http://[::ffff:169.254.1.1]/", "link-local"],
    ["http://metadata.google.internal/", "link-local"],
    ["http://127.0.0.1:4400/", "this very server"],
    ["http://localhost:4400/x", "this very server"],
  ])("may not be %s", (url, problem) => {
    const read = anthropic(url);
    expect(read).toEqual({ ok: false, problems: [expect.stringContaining(problem)] });
  });

  test("is not repeated in a problem, because users paste keys into URLs", () => {
    expect(JSON.stringify(anthropic("https://user:sk-very-secret@x.example"))).not.toContain("secret");
  });
});

test.each([
  ["169.254.169.254", true],
  ["169.253.255.255", false],
  ["fe80::1%eth0", true],
  ["febf::1", true],
  ["fec0::1", false],
  ["::ffff:169.254.0.1", true],
  ["fd00:ec2::254", true],
  ["127.0.0.1", false],
  ["api.example.com", false],
])("%s is link-local: %s", (address, expected) => {
  expect(isLinkLocal(address)).toBe(expected);
});
