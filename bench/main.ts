import { parseArgs } from "node:util";
import { awarenessCells } from "./awareness/index.ts";
import { costCells } from "./cost/index.ts";
import { engineCells } from "./engine/index.ts";
import { proxyCells } from "./proxy/index.ts";
import { type BenchOptions, type Cell, isWithin, printCells } from "./report.ts";
import { saveResults } from "./results.ts";
import { speedCells } from "./speed/index.ts";

/** Each benchmark is a list of cells; a cell is a figure measured in one run, and its bound. */
const benchmarks: Readonly<Record<string, (options: BenchOptions) => AsyncGenerator<Cell>>> = {
  awareness: awarenessCells,
  cost: costCells,
  engine: engineCells,
  proxy: proxyCells,
  speed: speedCells,
};

const usage = `usage: npm run bench -- ${Object.keys(benchmarks).join("|")} [--data DIR] [--json] [--quick] [--save]

  --data DIR   folder with recorded sessions, see docs/reference/recordings.md
  --json       print one JSON object as the last line
  --quick      less work, for tests: times and memory are printed without a bound
  --save       write the figures into bench/RESULTS.md

The exit code is 1 if a figure is out of its bound.`;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const [name] = positionals;
  const benchmark = name === undefined ? undefined : benchmarks[name];
  if (values?.help) console.log(usage);
  if (values?.help) return 0;
  if (name === undefined || benchmark === undefined || values === null) {
    console.error(name === undefined ? usage : `There is no benchmark "${name}".\n\n${usage}`);
    return 2;
  }
  const options = { data: values.data ?? null, json: values.json ?? false, quick: values.quick ?? false };
  const cells = await printCells({ name, options, cells: benchmark(options) });
  if (values.save) saveResults(name, cells);
  return cells.every(isWithin) ? 0 : 1;
}

/** An unknown flag is a misuse: the usage is printed. */
function parse(args: readonly string[]) {
  const options = {
    data: { type: "string" },
    json: { type: "boolean" },
    quick: { type: "boolean" },
    save: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch {
    return { values: null, positionals: [] };
  }
}
