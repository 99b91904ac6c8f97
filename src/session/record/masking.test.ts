import { describe, expect, it } from "vitest";
import { maskSecrets, maskText, secretForms } from "./masking.ts";

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

  it("knows a key as JSON and URLs write it", () => {
    const forms = secretForms(['k/e"y+123456']);
    for (const written of ['k/e\\"y+123456', 'k\\/e\\"y+123456', "k%2Fe%22y%2B123456"]) {
      expect(maskText(`quoted ${written} here`, forms)).not.toContain(written);
    }
  });

  it("knows the password inside a basic credential", () => {
    const basic = Buffer.from("user:a-long-password").toString("base64");
    expect(maskText("the password a-long-password is wrong", secretForms([basic]))).not.toContain("a-long");
  });

  it("leaves short words alone", () => {
    expect(secretForms(["short"])).toEqual([]);
  });
});
