import { describe, expect, it } from "vitest";
import { maskSecrets } from "./masking.ts";

describe("masking", () => {
  it("replaces every copy by as many asterisks and leaves the rest", () => {
    const bytes = Buffer.from('{"a":"key-123456","b":"xkey-123456key-123456"}');
    expect(maskSecrets(bytes, ["key-123456"])).toBe(true);
    expect(bytes.toString()).toBe(`{"a":"${"*".repeat(10)}","b":"x${"*".repeat(20)}"}`);
  });

  it("says when there was nothing, and takes no empty secret", () => {
    const bytes = Buffer.from("nothing here");
    expect(maskSecrets(bytes, ["key-123456", ""])).toBe(false);
    expect(bytes.toString()).toBe("nothing here");
  });
});
