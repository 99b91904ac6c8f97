import { expect, test } from "vitest";
import type { Api } from "./client.ts";
import { tellingDurable } from "./durable-api.ts";
import { succeed } from "./outcome.ts";

test("what is not on disk yet is told beside what the verb prints", async () => {
  const told: string[] = [];
  const answering = (value: unknown) => () => Promise.resolve(succeed({ value, text: "" }));
  const ask = async (value: unknown) => {
    const api = { put: answering(value), post: answering(value) } as unknown as Api;
    const telling = tellingDurable(api, { err: (line) => told.push(line) });
    expect(await telling.post("/ops", {})).toEqual(await telling.put("/mode", {}));
    return told.splice(0).length;
  };
  expect(await ask({ durable: false })).toBe(2);
  for (const value of [{ durable: true }, {}, null]) expect(await ask(value)).toBe(0);
});
