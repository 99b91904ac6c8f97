import { parseArgs } from "node:util";
import { engineCells } from "./engine/index.ts";
import { type BenchOptions, type Cell, printCells } from "./report.ts";

/** Each benchmark is a list of cells; a cell is a ratio measured in one run, and the bound it must keep. */
const benchmarks: Readonly<Record<string, (options: BenchOptions) => AsyncGenerator<Cell>>> = {
  engine: engineCells,
};

const usage = `usage: npm run bench -- ${Object.keys(benchmarks).join("|")} [--data DIR] [--json] [--quick]

  --data DIR   folder with recorded sessions, in the form described in CONTRIBUTING.md
  --json       print one JSON object as the last line
  --quick      fewer rounds: for tests, not for the record`;

const { values, positionals } = parseArgs({
  options: {
    data: { type: "string" },
    json: { type: "boolean" },
    quick: { type: "boolean" },
    help: { type: "boolean" },
  },
  allowPositionals: true,
});
const [name] = positionals;
const benchmark = name === undefined ? undefined : benchmarks[name];
if (values.help) console.log(usage);
else if (name === undefined || benchmark === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else {
  const options = { data: values.data ?? null, json: values.json ?? false, quick: values.quick ?? false };
  process.exitCode = await printCells({ name, options, cells: benchmark(options) });
}
