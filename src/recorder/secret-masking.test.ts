import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { SentRequest } from "../exchange/index.ts";
import { BodyBufferPool } from "./body-buffer-pool.ts";
import {
  findSecrets,
  holdsSecret,
  maskCopy,
  maskSecrets,
  maskSentRequest,
  maskText,
  searchStart,
  secretForms,
} from "./secret-masking.ts";

describe("masking", () => {
  it("replaces every copy by as many asterisks and leaves the rest", () => {
    const bytes = Buffer.from('{"a":"key-123456","b":"xkey-123456key-123456"}');
    expect(maskSecrets(bytes, ["key-123456"])).toBe(true);
    expect(bytes.toString()).toBe(`{"a":"${"*".repeat(10)}","b":"x${"*".repeat(20)}"}`);
  });

  it("reports if there was nothing to mask, and ignores an empty secret", () => {
    const bytes = Buffer.from("nothing here");
    expect(maskSecrets(bytes, ["key-123456", ""])).toBe(false);
    expect(bytes.toString()).toBe("nothing here");
  });

  it("masks a key as JSON and URLs write it", () => {
    const forms = secretForms(['k/e"y+123456']);
    for (const written of ['k/e\\"y+123456', 'k\\/e\\"y+123456', "k%2Fe%22y%2B123456"]) {
      expect(maskText(`quoted ${written} here`, forms)).not.toContain(written);
    }
  });

  it("masks the password inside a basic credential", () => {
    const basic = Buffer.from("user:a-long-password").toString("base64");
    expect(maskText("the password a-long-password is wrong", secretForms([basic]))).not.toContain("a-long");
  });

  it("leaves short words alone", () => {
    expect(secretForms(["short"])).toEqual([]);
  });
});

describe("a body that starts like a searched one", () => {
  const forms = ["key-123456", "sécret-01"];
  const before = { bytes: Buffer.from(`${"a".repeat(100)}key-12`), forms };

  it("is searched where it differs, also for a secret that starts before that", () => {
    const bytes = Buffer.from(`${"a".repeat(100)}key-123456 and more`);
    const start = searchStart(bytes, forms, before);
    expect([start > 90, holdsSecret(bytes, forms, start)]).toEqual([true, true]);
    maskSecrets(bytes, forms, start);
    expect(bytes.toString()).toBe(`${"a".repeat(100)}${"*".repeat(10)} and more`);
  });

  it("is searched whole for a new secret", () => {
    const bytes = Buffer.from("a".repeat(100));
    expect(searchStart(bytes, [...forms, "another-key"], before)).toBe(0);
    expect(searchStart(bytes, ["key-123456"], before)).toBeGreaterThan(80);
    expect(searchStart(bytes, forms, null)).toBe(0);
  });

  it("is masked as if it were searched whole, wherever the secret is", () => {
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
        const [whole, resumed] = [Buffer.from(next), Buffer.from(next)];
        const start = searchStart(next, forms, { bytes: searched, forms });
        expect(holdsSecret(next, forms, start)).toBe(maskSecrets(whole, forms));
        maskSecrets(resumed, forms, start);
        expect(resumed.toString("hex")).toBe(whole.toString("hex"));
      }),
    );
  });
});

const secret = "key-0123456789";
const masked = "*".repeat(secret.length);
const search = { forms: [secret], before: null };

function sharedBytes(text: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}

describe("a copy", () => {
  it("in shared memory is masked without changing the original", () => {
    const body = sharedBytes(`a ${secret} b`);
    const { copy, isMasked } = maskCopy({ body, headers: {} }, search);
    expect([isMasked, Buffer.from(copy.body ?? []).toString()]).toEqual([true, `a ${masked} b`]);
    expect(body.toString()).toBe(`a ${secret} b`);
  });

  it("that is compressed and contains a secret is dropped", () => {
    const headers = { "content-encoding": "gzip" };
    const { copy } = maskCopy({ body: gzipSync(`a ${secret}`), headers }, search);
    expect(copy.body).toBe(null);
  });
});

describe("a sent request", () => {
  const report: SentRequest = {
    rendering: "managed",
    streamKey: "l",
    generatedName: null,
    wishesSeq: 0,
    leaf: "p1",
    fresh: [
      {
        id: "p1",
        parent: null,
        origin: "client",
        key: `call:${secret}`,
        clientIndex: 0,
        numbered: null,
        as: "original",
        bytes: sharedBytes(`"${secret}"`),
      },
    ],
    aliases: [],
    isTurn: true,
    body: [sharedBytes(`a ${secret.slice(0, 5)}`), sharedBytes(`${secret.slice(5)} b`)],
    length: 4 + secret.length,
    epoch: null,
  };

  it("is masked in its body, also across pieces, in its units and in their keys", () => {
    const { copy, isMasked } = maskSentRequest(report, search, new BodyBufferPool());
    expect(isMasked).toBe(true);
    expect(Buffer.concat(copy.body).toString()).toBe(`a ${masked} b`);
    expect(copy.fresh.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()])).toEqual([
      [`call:${masked}`, `"${masked}"`],
    ]);
    expect(Buffer.concat(report.body).toString()).toBe(`a ${secret} b`);
    expect(Buffer.from(report.fresh[0]?.bytes ?? []).toString()).toBe(`"${secret}"`);
  });

  it("without a secret is copied unchanged", () => {
    const { copy, isMasked } = maskSentRequest(
      report,
      { forms: ["another-secret"], before: null },
      new BodyBufferPool(),
    );
    expect([isMasked, Buffer.concat(copy.body).toString()]).toEqual([false, `a ${secret} b`]);
    expect(copy.body.map(({ buffer }) => buffer instanceof SharedArrayBuffer)).toEqual([false]);
  });
});

const longToken = "aB3".repeat(20);

test.each([
  ["a key of a provider", `export KEY=sk-ant-api03-${longToken}`, `sk-ant-api03-${longToken}`],
  ["a token of a forge", `ghp_${longToken.slice(0, 36)} is mine`, `ghp_${longToken.slice(0, 36)}`],
  ["an id of a cloud", "AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"],
  [
    "a signed token",
    `Bearer eyJ${longToken}.${longToken}.${longToken}`,
    `eyJ${longToken}.${longToken}.${longToken}`,
  ],
])("%s is found", (_, text, secret) => {
  expect(findSecrets(`${text} and ${text}`)).toEqual([secret]);
});

test("names that only start alike are no secrets", () => {
  expect(findSecrets("sk-learn task-force-of-the-whole-team ghp_short AKIA eyJ.a.b")).toEqual([]);
});
