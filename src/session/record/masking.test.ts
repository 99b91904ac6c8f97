import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holdsSecret, maskSecrets, maskText, searchStart, secretForms } from "./masking.ts";

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

describe("a body that begins like one that was searched", () => {
  const forms = ["key-123456", "sécret-01"];
  const before = { bytes: Buffer.from(`${"a".repeat(100)}key-12`), forms };

  it("is searched where it differs, also for a secret that begins before that", () => {
    const bytes = Buffer.from(`${"a".repeat(100)}key-123456 and more`);
    const start = searchStart(bytes, forms, before);
    expect([start > 90, holdsSecret(bytes, forms, start)]).toEqual([true, true]);
    maskSecrets(bytes, forms, start);
    expect(bytes.toString()).toBe(`${"a".repeat(100)}${"*".repeat(10)} and more`);
  });

  it("is searched whole for a secret the other was not searched for", () => {
    const bytes = Buffer.from("a".repeat(100));
    expect(searchStart(bytes, [...forms, "another-key"], before)).toBe(0);
    expect(searchStart(bytes, ["key-123456"], before)).toBeGreaterThan(80);
    expect(searchStart(bytes, forms, null)).toBe(0);
  });

  it("is masked as if it were searched whole, wherever the secret stands", () => {
    const part = fc.array(
      fc.constantFrom("key-123456", "sécret-01", "key-", "123456", "sé", "cret-01", "a"),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(part, fc.nat(80), part, (first, cut, second) => {
        const searched = Buffer.from(first.join(""));
        maskSecrets(searched, forms);
        const next = Buffer.concat([searched.subarray(0, cut), Buffer.from(second.join(""))]);
        const [whole, onwards] = [Buffer.from(next), Buffer.from(next)];
        const start = searchStart(next, forms, { bytes: searched, forms });
        expect(holdsSecret(next, forms, start)).toBe(maskSecrets(whole, forms));
        maskSecrets(onwards, forms, start);
        expect(onwards.toString("hex")).toBe(whole.toString("hex"));
      }),
    );
  });
});
