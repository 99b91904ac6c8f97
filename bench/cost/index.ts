import { recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { readAssumptions } from "./assumptions.ts";
import { type CellsInput, managedCells } from "./cells.ts";
import { type Column, columns, type PlayedColumns, readName } from "./play-columns.ts";
import { commandCells, policyCells, prunedCells } from "./policy-cells.ts";
import { type PlayJob, type PlayOutcome, playAll } from "./pool.ts";

/** The cost of a managed session relative to the session as the client sends it. */
export async function* costCells({ data, quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = data ?? recordingsFolder;
  const names = recordingNames(folder);
  if (names.length === 0) throw new Error(`There are no sessions in ${folder}/agent-sessions.`);
  const outcomes = await playAll(
    names.map((name): PlayJob => ({ folder, name, columns: columnNamesFor(name, quick) })),
  );
  yield* problemCells(outcomes);
  const sessions = outcomes.flatMap((one) => ("session" in one ? [one.session] : []));
  if (sessions.length === 0) return;
  for (const column of columns) if (column.read === null) yield* columnCells(column, sessions);
  yield* prunedCells(sessions);
}

/** With fewer sessions the figures are chance. */
const judgedMin = 10;

/** Sessions that the quick form plays in every column: a short one of each agent. */
const shortNames: readonly string[] = [
  "cc-entire-cli-05",
  "cc-entire-cli-08",
  "codex-entire-skills-01",
  "gemini-entire-cli-01",
  "oh-openhands-01",
  "opencode-prsui-01",
  "pi-prsui-01",
  "swe-swe-agent-01",
  "tau-airline-01",
];

function columnNamesFor(name: string, quick: boolean): readonly string[] {
  const isAll = !quick || shortNames.includes(name);
  return columns.filter(({ isQuick }) => isAll || isQuick).map((column) => column.name);
}

/** Reports each session that cannot be played; the others are played all the same. */
function* problemCells(outcomes: readonly PlayOutcome[]): Generator<Cell> {
  const problems = outcomes.flatMap((one) => ("problem" in one ? [one] : []));
  const shared = { boundMax: null, unit: "" } as const;
  for (const { name, problem } of problems)
    yield { ...shared, name: `${name}: not played`, figure: 1, note: problem };
  yield {
    ...shared,
    name: "sessions that cannot be played",
    figure: problems.length,
    boundMax: 0,
    note: `of ${outcomes.length}`,
  };
}

function columnCells(column: Column, sessions: readonly PlayedColumns[]): Iterable<Cell> {
  const { name, policy, rounds } = column;
  const its = playedAs(name, sessions);
  if (its.length === 0) return [];
  const isJudged = its.length >= judgedMin && its.length === sessions.length;
  const input: CellsInput = { column: name, sessions: its, isJudged, tables: tablesOf(name, sessions) };
  if (policy === "auto") return policyCells(input);
  if (rounds === null) return managedCells(input);
  return commandCells({ ...input, isJudged: isJudged && name === "recorded with commands" });
}

/** Other prices of cache reads: played if there is such a column, otherwise calculated. */
function tablesOf(column: string, sessions: readonly PlayedColumns[]): CellsInput["tables"] {
  return readAssumptions().readPrices.value.map((read) => {
    const name = readName(column, read);
    const isPlayed = columns.some((one) => one.name === name);
    return { read, sessions: playedAs(isPlayed ? name : column, sessions) };
  });
}

function playedAs(column: string, sessions: readonly PlayedColumns[]) {
  return sessions.flatMap((session) => session.columns[column] ?? []);
}
