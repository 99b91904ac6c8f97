import { expect, test } from "vitest";
import { nameTokens } from "../../render/index.ts";
import { estimatedPrice, namePrice } from "./name-price.ts";

const settled = () => new Promise((resume) => setImmediate(resume));

test("without a vocabulary a price is an estimate", () => {
  expect(estimatedPrice("auth.ts")).toEqual({ tokens: nameTokens("auth.ts"), exact: false });
});

test("a vocabulary is loaded with the first name, once, and counts from then on", async () => {
  let [loads, counts] = [0, 0];
  const price = namePrice(() => {
    loads += 1;
    return Promise.resolve((text: string) => {
      counts += 1;
      return text === " none" ? 0 : text.length;
    });
  });
  await settled();
  expect(loads).toBe(0);
  expect(price("auth.ts").exact).toBe(false);
  expect(price("auth.ts").exact).toBe(false);
  await settled();
  // With the blank before it, and never for nothing.
  expect([price("auth.ts"), price("none")]).toEqual([
    { tokens: 8, exact: true },
    { tokens: 1, exact: true },
  ]);
  price("auth.ts");
  expect([loads, counts]).toEqual([1, 2]);
});

test("one that cannot be loaded leaves it at estimates, and is not tried again", async () => {
  let loads = 0;
  const price = namePrice(() => {
    loads += 1;
    return Promise.reject(new Error("no such file"));
  });
  price("a");
  await settled();
  expect([price("auth.ts"), loads]).toEqual([estimatedPrice("auth.ts"), 1]);
});
