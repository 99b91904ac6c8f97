import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { SentReport } from "../exchange.ts";
import { BodyMemory } from "./body-memory.ts";
import { cleanReport, withoutSecrets } from "./clean-copy.ts";

const secret = "key-0123456789";
const masked = "*".repeat(secret.length);
const wanted = { forms: [secret], before: null };

function shared(text: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}

describe("a copy", () => {
  it("in shared memory is masked without changing what others see", () => {
    const body = shared(`a ${secret} b`);
    const { copy, masked: isMasked } = withoutSecrets({ body, headers: {} }, wanted);
    expect([isMasked, Buffer.from(copy.body ?? []).toString()]).toEqual([true, `a ${masked} b`]);
    expect(body.toString()).toBe(`a ${secret} b`);
  });

  it("that is compressed and holds a secret is not kept", () => {
    const headers = { "content-encoding": "gzip" };
    const { copy } = withoutSecrets({ body: gzipSync(`a ${secret}`), headers }, wanted);
    expect(copy.body).toBe(null);
  });
});

describe("a report", () => {
  const report: SentReport = {
    rendering: "managed",
    line: "l",
    talkName: null,
    briefed: 0,
    leaf: "p1",
    fresh: [
      {
        id: "p1",
        parent: null,
        origin: "client",
        key: `call:${secret}`,
        unit: 0,
        numbered: null,
        as: "original",
        bytes: shared(`"${secret}"`),
      },
    ],
    copies: [],
    isTurn: true,
    body: [shared(`a ${secret.slice(0, 5)}`), shared(`${secret.slice(5)} b`)],
    length: 4 + secret.length,
    epoch: null,
  };

  it("is masked in its body, also across pieces, in its units and in their keys", () => {
    const { copy, masked: isMasked } = cleanReport(report, wanted, new BodyMemory());
    expect(isMasked).toBe(true);
    expect(Buffer.concat(copy.body).toString()).toBe(`a ${masked} b`);
    expect(copy.fresh.map(({ key, bytes }) => [key, Buffer.from(bytes).toString()])).toEqual([
      [`call:${masked}`, `"${masked}"`],
    ]);
    expect(Buffer.concat(report.body).toString()).toBe(`a ${secret} b`);
    expect(Buffer.from(report.fresh[0]?.bytes ?? []).toString()).toBe(`"${secret}"`);
  });

  it("without a secret says the same in memory of its own", () => {
    const { copy, masked: isMasked } = cleanReport(
      report,
      { forms: ["another-secret"], before: null },
      new BodyMemory(),
    );
    expect([isMasked, Buffer.concat(copy.body).toString()]).toEqual([false, `a ${secret} b`]);
    expect(copy.body.map(({ buffer }) => buffer instanceof SharedArrayBuffer)).toEqual([false]);
  });
});
