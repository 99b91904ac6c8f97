import { recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { readAssumptions } from "./assumptions.ts";
import { managedCells } from "./cells.ts";
import { columns } from "./play.ts";
import { commandCells, policyCells, prunedCells } from "./policy-cells.ts";
import { playAll } from "./pool.ts";

/** What a session costs when it is managed, against what it costs as the client sends it. */
export async function* costCells({ data, quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = data ?? recordingsFolder;
  const sessions = await playAll({ folder, names: chosenNames(recordingNames(folder), quick) });
  const isJudged = !quick && sessions.length >= judgedMin;
  const readPrices = readAssumptions().readPrices.value;
  for (const [at, { name, policy, model, rounds }] of columns.entries()) {
    const its = sessions.flatMap((session) => session.columns.slice(at, at + 1));
    const asked = { column: name, sessions: its, readPrices, isJudged };
    // Where reading is all but free, leaving something out is for the window and not for the bill.
    if (policy === "auto") yield* policyCells({ ...asked, isJudged: isJudged && model === null });
    else if (rounds !== null) yield* commandCells({ ...asked, isJudged: isJudged && rounds === "mixed" });
    else yield* managedCells(asked);
  }
  yield* prunedCells(sessions);
}

/** In a handful of sessions everything is chance. */
const judgedMin = 10;

/** A short session of each agent, and one that is long enough for something to happen in it. */
const quickNames = [
  "cc-entire-cli-05",
  "cc-entire-cli-08",
  "codex-entire-skills-01",
  "gemini-entire-cli-01",
  "oh-openhands-01",
  "opencode-prsui-01",
  "pi-prsui-01",
  "swe-swe-agent-01",
  "tau-airline-01",
] as const;

function chosenNames(names: readonly string[], quick: boolean): readonly string[] {
  const chosen = names.filter((name) => (quickNames as readonly string[]).includes(name));
  return quick && chosen.length > 0 ? chosen : names;
}
