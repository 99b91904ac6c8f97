import { expect, test } from "vitest";
import { noCommands } from "../commands/index.ts";
import { StreamActions } from "./stream-actions.ts";

const countsOf = (actions: StreamActions, request: string, turn: number) => {
  const { commands, changedTokens, failures } = actions.historyFor(request, turn);
  return [commands, changedTokens, failures];
};

test("each request keeps its own counts while others are answered", () => {
  const actions = new StreamActions();
  actions.noteHistory("a", { ...noCommands, turn: 3, commands: 20, changedTokens: 500 });
  expect(countsOf(actions, "b", 3)).toEqual([0, 0, 0]);
  actions.noteHistory("b", { ...noCommands, turn: 3, commands: 1, failures: 2 });
  expect(countsOf(actions, "a", 4)).toEqual([20, 500, 2]);
  expect(countsOf(actions, "b", 4)).toEqual([1, 0, 2]);
});
