import { recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { readAssumptions } from "./assumptions.ts";
import { type CellsAsked, managedCells } from "./cells.ts";
import { type Column, columns, type PlayedSession, readName } from "./play.ts";
import { commandCells, policyCells, prunedCells } from "./policy-cells.ts";
import { type Job, type Outcome, playAll } from "./pool.ts";

/** What a session costs when it is managed, against what it costs as the client sends it. */
export async function* costCells({ data, quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = data ?? recordingsFolder;
  const names = recordingNames(folder);
  if (names.length === 0) throw new Error(`There are no sessions in ${folder}/agent-sessions.`);
  const outcomes = await playAll(names.map((name): Job => ({ folder, name, columns: chosen(name, quick) })));
  yield* problemCells(outcomes);
  const sessions = outcomes.flatMap((one) => ("session" in one ? [one.session] : []));
  if (sessions.length === 0) return;
  for (const column of columns) if (column.read === null) yield* columnCells(column, sessions);
  yield* prunedCells(sessions);
}

/** In a handful of sessions everything is chance. */
const judgedMin = 10;

/** Sessions of which the quick form plays every column: a short one of each agent. */
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

function chosen(name: string, quick: boolean): readonly string[] {
  const isAll = !quick || shortNames.includes(name);
  return columns.filter(({ isQuick }) => isAll || isQuick).map((column) => column.name);
}

/** A session that cannot be played is told by name; the others are played all the same. */
function* problemCells(outcomes: readonly Outcome[]): Generator<Cell> {
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

function columnCells(column: Column, sessions: readonly PlayedSession[]): Iterable<Cell> {
  const { name, policy, rounds } = column;
  const its = playedAs(name, sessions);
  if (its.length === 0) return [];
  const isJudged = its.length >= judgedMin && its.length === sessions.length;
  const asked: CellsAsked = { column: name, sessions: its, isJudged, tables: tablesOf(name, sessions) };
  if (policy === "auto") return policyCells(asked);
  if (rounds === null) return managedCells(asked);
  return commandCells({ ...asked, isJudged: isJudged && name === "recorded with commands" });
}

/** Other prices of reading: played where there is such a column, else worked out. */
function tablesOf(column: string, sessions: readonly PlayedSession[]): CellsAsked["tables"] {
  return readAssumptions().readPrices.value.map((read) => {
    const name = readName(column, read);
    const isPlayed = columns.some((one) => one.name === name);
    return { read, sessions: playedAs(isPlayed ? name : column, sessions) };
  });
}

function playedAs(column: string, sessions: readonly PlayedSession[]) {
  return sessions.flatMap((session) => session.columns[column] ?? []);
}
