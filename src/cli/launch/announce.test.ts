import { expect, test } from "vitest";
import { tokensManaged } from "../../session/index.ts";
import { announcement, managedFrom } from "./announce.ts";

test("what is said to be managed is what is managed", () => {
  expect(managedFrom).toBe(`${tokensManaged("claude-code") / 1_000}k`);
});

test("an Aperture that does not tell its secrets is not claimed to have any", () => {
  const proxy = { url: "http://127.0.0.1:4400", upstream: null, mode: null, panel: null };
  const lines = announcement({
    version: "1.2.3",
    client: "codex",
    proxy,
    wantedMode: undefined,
    isUnagreed: false,
  });
  expect(lines[0]).toBe("aperture 1.2.3  proxy 127.0.0.1:4400 -> the upstreams it was started with");
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^relayed {2}all of it/)]);
});
