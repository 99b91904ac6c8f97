import { expect, test } from "vitest";
import { noActs } from "../../commands/index.ts";
import { Doings } from "./doings.ts";

const counted = (doings: Doings, request: string, turn: number) => {
  const { commands, changedTokens, failures } = doings.actsFor(request, turn);
  return [commands, changedTokens, failures];
};

test("what counts in a turn goes on counting for one request, whatever others do meanwhile", () => {
  const doings = new Doings();
  doings.did("a", { ...noActs, turn: 3, commands: 20, changedTokens: 500 });
  expect(counted(doings, "b", 3)).toEqual([0, 0, 0]);
  doings.did("b", { ...noActs, turn: 3, commands: 1, failures: 2 });
  expect(counted(doings, "a", 4)).toEqual([20, 500, 2]);
  expect(counted(doings, "b", 4)).toEqual([1, 0, 2]);
});
