export type BenchOptions = {
  readonly data: string | null;
  readonly json: boolean;
  readonly quick: boolean;
};

/** A figure and its upper bound. Mostly ratios, because machines are noisy and milliseconds mean little. */
export type Cell = {
  readonly name: string;
  readonly figure: number;
  readonly boundMax: number | null;
  readonly unit: string;
  readonly note: string;
};

export type BenchRun = {
  readonly name: string;
  readonly options: BenchOptions;
  readonly cells: AsyncGenerator<Cell>;
};

/** Prints each cell as it is measured. */
export async function printCells({ name, options, cells }: BenchRun): Promise<readonly Cell[]> {
  const measured: Cell[] = [];
  console.log(`${"cell".padEnd(64)} ${"figure".padStart(10)} ${"bound".padStart(8)}`);
  for await (const cell of cells) {
    measured.push(cell);
    const bound = cell.boundMax === null ? "" : `<= ${cell.boundMax}`;
    const verdict = isWithin(cell) ? "" : "  OUT OF BOUNDS";
    const figure = `${round(cell.figure)}${cell.unit}`;
    console.log(`${cell.name.padEnd(64)} ${figure.padStart(10)} ${bound.padStart(8)}${verdict}`);
    if (cell.note !== "") console.log(`    ${cell.note}`);
  }
  if (options.json)
    console.log(JSON.stringify({ bench: name, ok: measured.every(isWithin), cells: measured }));
  return measured;
}

/** Cells without their bounds: the quick form measures too little to judge times and memory. */
export async function* withoutBounds(cells: Iterable<Cell> | AsyncIterable<Cell>): AsyncGenerator<Cell> {
  for await (const cell of cells) yield { ...cell, boundMax: null };
}

export function isWithin(cell: Cell): boolean {
  return Number.isFinite(cell.figure) && (cell.boundMax === null || cell.figure <= cell.boundMax);
}

/** 10,000 for 10000. */
export function countText(value: number): string {
  return value.toLocaleString("en-US");
}

export function round(value: number): number {
  return Number(value.toPrecision(3));
}
