import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { type Cell, round } from "./report.ts";

const file = "bench/RESULTS.md";
const title = `# Benchmark results

Ratios of one run, written by \`npm run bench -- NAME --save\`. A figure without a bound is for information.
`;

/** Replaces the section of one benchmark and leaves the others. */
export function saveResults(name: string, cells: readonly Cell[]): void {
  const before = existsSync(file) ? readFileSync(file, "utf8") : title;
  const sections = before.split(/^## /m).filter((section) => !section.startsWith(`${name}\n`));
  writeFileSync(
    file,
    [...sections, sectionOf(name, cells)].map((section) => `${section.trimEnd()}\n`).join("\n## "),
  );
}

function sectionOf(name: string, cells: readonly Cell[]): string {
  const environment = `Node ${process.versions.node}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}.`;
  const rows = cells.map(({ name: cell, figure, unit, boundMax, note }) => {
    const bound = boundMax === null ? "" : `<= ${boundMax}${unit}`;
    return `| ${cell.trim()} | ${round(figure)}${unit} | ${bound} | ${note} |`;
  });
  return [
    name,
    "",
    environment,
    "",
    "| cell | figure | bound | what was seen |",
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}
