import { describe, expect, test } from "vitest";
import { readSettings, settingsTable } from "./settings.ts";

const home = "/people/ada";

function settingsOf(env: Record<string, string>) {
  const result = readSettings(env, home);
  if (!result.ok) throw new Error(result.problems.join(" "));
  return result.settings;
}

function problemsOf(env: Record<string, string>): readonly string[] {
  const result = readSettings(env, home);
  return result.ok ? [] : result.problems;
}

describe("defaults", () => {
  test("an empty environment is enough", () => {
    const { upstreams, ...rest } = settingsOf({});
    expect(rest).toEqual({
      host: "127.0.0.1",
      port: 4400,
      mode: "auto",
      textCommands: "off",
      arrival: "lossless",
      policy: "auto",
      headers: "compact",
      manifest: "text",
      dataDir: "/people/ada/.local/share/aperture",
      isRemote: false,
      managesLogins: false,
      allowedHosts: [],
    });
    expect(upstreams.anthropic.href).toBe("https://api.anthropic.com/");
    expect(upstreams.named.size).toBe(0);
  });

  test("an empty variable counts as unset", () => {
    expect(settingsOf({ APERTURE_PORT: "", APERTURE_MODE: " ", APERTURE_TOKEN: "" })).toEqual(settingsOf({}));
  });
});

describe("logins", () => {
  test("are managed with 1, and other words than 1 and 0 are refused", () => {
    expect(settingsOf({}).managesLogins).toBe(false);
    expect(settingsOf({ APERTURE_MANAGE_LOGINS: "0" }).managesLogins).toBe(false);
    expect(settingsOf({ APERTURE_MANAGE_LOGINS: "1" }).managesLogins).toBe(true);
    expect(problemsOf({ APERTURE_MANAGE_LOGINS: "yes" })).toEqual([
      'APERTURE_MANAGE_LOGINS must be 1 or 0, not "yes".',
    ]);
  });
});

describe("data directory", () => {
  test("XDG_DATA_HOME moves the default", () => {
    expect(settingsOf({ XDG_DATA_HOME: "/var/data" }).dataDir).toBe("/var/data/aperture");
  });

  test("a relative XDG_DATA_HOME is ignored, as its specification says", () => {
    expect(settingsOf({ XDG_DATA_HOME: "data" }).dataDir).toBe("/people/ada/.local/share/aperture");
  });

  test("APERTURE_DATA_DIR wins and is taken as it is", () => {
    expect(settingsOf({ XDG_DATA_HOME: "/var/data", APERTURE_DATA_DIR: "here" }).dataDir).toBe("here");
  });
});

describe("problems", () => {
  test.each(["0", "65536", "-1", "80a", "4400.5", "0x50", "1e3", "999999"])("port %s is refused", (port) => {
    expect(problemsOf({ APERTURE_PORT: port })).toEqual([
      `APERTURE_PORT must be a whole number from 1 to 65535, not "${port}".`,
    ]);
  });

  test.each(["1", "65535"])("port %s is accepted", (port) => {
    expect(settingsOf({ APERTURE_PORT: port }).port).toBe(Number(port));
  });

  test("all problems are reported together", () => {
    expect(problemsOf({ APERTURE_PORT: "x", APERTURE_MODE: "fast" })).toHaveLength(2);
  });

  test("a database URL is refused, because it would be ignored", () => {
    const [problem] = problemsOf({ APERTURE_DATABASE_URL: "postgres://db.example/aperture" });
    expect(problem).toMatch(/^APERTURE_DATABASE_URL is not supported yet/);
  });

  test("a bad token is refused without being repeated", () => {
    const [problem] = problemsOf({ APERTURE_TOKEN: "half secret" });
    expect(problem).toContain("APERTURE_TOKEN");
    expect(problem).not.toContain("secret");
  });
});

test("the table names each setting once", () => {
  const names = settingsTable.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

describe("the host", () => {
  test.each(["127.0.0.1", "::1", "[::1]", "LOCALHOST"])("may be %s", (host) => {
    expect(readSettings({ APERTURE_HOST: host }, "/somewhere").ok).toBe(true);
  });

  test.each(["0.0.0.0", "127.0.0.2", "example.com", "::"])("may be %s only with token and flag", (host) => {
    const remote = { APERTURE_HOST: host };
    expect(problemsOf(remote)).toEqual([
      expect.stringContaining("APERTURE_TOKEN and APERTURE_ALLOW_REMOTE=1"),
    ]);
    expect(problemsOf({ ...remote, APERTURE_TOKEN: "t" })).toEqual([
      expect.stringMatching(/needs APERTURE_ALLOW_REMOTE=1\.$/),
    ]);
    expect(problemsOf({ ...remote, APERTURE_ALLOW_REMOTE: "1" })).toEqual([
      expect.stringMatching(/needs a secret in APERTURE_TOKEN\.$/),
    ]);
    const both = { ...remote, APERTURE_TOKEN: "t", APERTURE_ALLOW_REMOTE: "1" };
    expect(settingsOf(both)).toMatchObject({ host, isRemote: true });
  });

  test.each(["a b", "http://x", "x/y", "-x"])("may not be %s", (host) => {
    expect(problemsOf({ APERTURE_HOST: host })).toHaveLength(1);
  });
});

describe("allowed hosts", () => {
  test("are a list of exact names", () => {
    const env = { APERTURE_ALLOWED_HOSTS: " Aperture.Example:4400, [fd00::1]:80 ,," };
    expect(settingsOf(env).allowedHosts).toEqual(["aperture.example:4400", "[fd00::1]:80"]);
  });

  test.each(["*.example", "a/b", "a b", "user@a", "a:123456", "http://a"])("%s is refused", (name) => {
    expect(problemsOf({ APERTURE_ALLOWED_HOSTS: name })).toHaveLength(1);
  });
});
