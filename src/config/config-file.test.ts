import { describe, expect, test } from "vitest";
import { configPathOf } from "./config-file.ts";
import { readSettings } from "./settings.ts";

const home = "/people/ada";

function fromFile(value: unknown, env: Record<string, string> = {}) {
  return readSettings(env, home, typeof value === "string" ? value : JSON.stringify(value));
}

describe("the path of the config file", () => {
  test("is in the user's config folder", () => {
    expect(configPathOf({}, home)).toBe("/people/ada/.config/aperture/config.json");
    expect(configPathOf({ XDG_CONFIG_HOME: "/etc/ada" }, home)).toBe("/etc/ada/aperture/config.json");
    expect(configPathOf({ XDG_CONFIG_HOME: "etc" }, home)).toBe("/people/ada/.config/aperture/config.json");
    expect(configPathOf({ APERTURE_CONFIG: "/elsewhere/a.json" }, home)).toBe("/elsewhere/a.json");
  });

  test("is never relative to the current folder", () => {
    expect(configPathOf({ APERTURE_CONFIG: "aperture.json" }, home)).toBeNull();
    expect(readSettings({ APERTURE_CONFIG: "aperture.json" }, home)).toEqual({
      ok: false,
      problems: [expect.stringContaining("absolute")],
    });
  });
});

describe("the content of the config file", () => {
  const everything = {
    port: 4410,
    host: "0.0.0.0",
    allowRemote: true,
    allowedHosts: ["a.example:1", "b.example"],
    mode: "ask",
    token: "secret",
    dataDir: "/data",
    upstreamOpenai: "https://gateway.example/openai",
    upstreams: { local: "http://127.0.0.1:11434", "my-2": "https://x.example/y" },
  };

  test("may be any setting by its name", () => {
    const read = fromFile(everything);
    expect(read).toMatchObject({
      ok: true,
      settings: {
        port: 4410,
        host: "0.0.0.0",
        isRemote: true,
        mode: "ask",
        token: "secret",
        dataDir: "/data",
      },
    });
    if (!read.ok) return;
    expect(read.settings.allowedHosts).toEqual(["a.example:1", "b.example"]);
    expect(read.settings.upstreams.openai.href).toBe("https://gateway.example/openai");
    expect(read.settings.upstreams.named.get("my-2")?.href).toBe("https://x.example/y");
  });

  test("is overridden by the environment", () => {
    expect(fromFile(everything, { APERTURE_PORT: "5", APERTURE_MODE: "" })).toMatchObject({
      settings: { port: 5, mode: "ask" },
    });
  });

  test("may be missing", () => {
    expect(readSettings({}, home, null)).toEqual(fromFile({}));
  });
});

describe("a problem in the config file", () => {
  test.each([
    ["{", "not valid JSON"],
    ["[]", "one JSON object"],
    ["null", "one JSON object"],
    [{ prot: 1 }, '"prot"'],
    [{ config: "/x" }, '"config"'],
    [{ port: {} }, "port in the config file"],
    [{ port: "x" }, "port in the config file must be a whole number"],
    [{ upstreams: [] }, "object of names"],
    [{ upstreams: { "A b": "https://x.example" } }, '"A b"'],
    [{ upstreams: { a: 1 } }, "upstream a"],
    [{ upstreams: { a: "http://169.254.169.254" } }, "upstreams.a in the config file"],
    ['{"__proto__": {"port": 1}}', '"__proto__"'],
  ])("%j", (value, problem) => {
    expect(fromFile(value)).toEqual({ ok: false, problems: [expect.stringContaining(problem)] });
  });

  test("a problem names file and line, and does not repeat a token", () => {
    expect(fromFile('{\n"port" 1}')).toMatchObject({
      problems: [expect.stringMatching(/\/people\/ada\/.config\/aperture\/config.json .* \(line 2\)/)],
    });
  });

  test.each([
    ['{\n  "mode": auto\n}', 2],
    ['{\n  "a": 1,\n  "manifest": "text",\n  "headers": "compact",\n  "mode": auto,\n  "port": 4410\n}', 5],
    ['{\n  "mode": "auto",\n}', 3],
    ['{\n  "mode": "auto"', 2],
  ])("the line is named in %j", (text, line) => {
    expect(fromFile(text)).toMatchObject({ problems: [expect.stringContaining(`(line ${line})`)] });
  });

  test("a token in broken text is not repeated", () => {
    expect(JSON.stringify(fromFile('{"token": "hush-hush" oops}'))).not.toContain("hush");
  });
});
