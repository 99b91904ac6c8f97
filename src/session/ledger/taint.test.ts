import { expect, test } from "vitest";
import type { SentUnit } from "../desk-port.ts";
import { saidFirst } from "./taint.ts";

const unit = (id: string, turn: number | null): SentUnit =>
  ({ id, numbered: turn === null ? null : { turn } }) as unknown as SentUnit;

test("what was said in an earlier turn is not new, however it is sent", () => {
  const sent = [unit("head", null), unit("old", 3), unit("new", 4)];
  expect(saidFirst(sent, 4).map(({ id }) => id)).toEqual(["new"]);
});
