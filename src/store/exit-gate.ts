import type { Driver, Sqlite, SqliteOptions, SqlRow, SqlStatement } from "./driver.ts";

/**
 * One of the drivers aborts the whole process when its thread is ended in the middle of a call, and
 * `process.exit` ends every thread. Calls pass a gate; the code that ends the thread shuts the gate first and
 * waits for the call inside.
 */
export type ExitGate = Int32Array<SharedArrayBuffer>;

const OPEN = 0;
const INSIDE = 1;
const SHUT = 2;

const WAIT_MS = 50;
const WAITS_MAX = 40;

export function openGate(): ExitGate {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Lets no further call begin, and waits for the present one for two seconds at most. */
export function shutGate(gate: ExitGate): void {
  for (let waits = 0; waits < WAITS_MAX; waits++) {
    if (Atomics.compareExchange(gate, 0, OPEN, SHUT) !== INSIDE) return;
    Atomics.wait(gate, 0, INSIDE, WAIT_MS);
  }
}

/** A thread that finds the gate shut waits there until it is ended. */
export function passGate<T>(gate: ExitGate, call: () => T): T {
  while (Atomics.compareExchange(gate, 0, OPEN, INSIDE) !== OPEN) Atomics.wait(gate, 0, SHUT);
  try {
    return call();
  } finally {
    Atomics.store(gate, 0, OPEN);
    Atomics.notify(gate, 0);
  }
}

/** The same driver, with every call passing the gate. */
export function gatedDriver({ DatabaseSync }: Driver, gate: ExitGate): Driver {
  const open = (path: string, options: SqliteOptions = {}): Sqlite => {
    const db = passGate(gate, () => new DatabaseSync(path, options));
    return {
      exec: (sql) => passGate(gate, () => db.exec(sql)),
      prepare: (sql) =>
        gatedStatement(
          passGate(gate, () => db.prepare(sql)),
          gate,
        ),
      close: () => passGate(gate, () => db.close()),
      function: (name, rules, call) => passGate(gate, () => db.function(name, rules, call)),
    };
  };
  return {
    DatabaseSync: function gated(path: string, options?: SqliteOptions): Sqlite {
      return open(path, options);
    } as unknown as Driver["DatabaseSync"],
  };
}

function gatedStatement(statement: SqlStatement, gate: ExitGate): SqlStatement {
  return {
    run: (...values) => passGate(gate, () => statement.run(...values)),
    get: (...values) => passGate(gate, () => statement.get(...values)),
    all: (...values) => passGate(gate, () => statement.all(...values)),
    *iterate(...values): Generator<SqlRow> {
      const rows = passGate(gate, () => statement.iterate(...values));
      for (let row = passGate(gate, () => rows.next()); !row.done; row = passGate(gate, () => rows.next()))
        yield row.value;
    },
  };
}

const openGates = new Set<ExitGate>();

/** Shuts the gate when the process exits; returns how to cancel that. */
export function shutAtExit(gate: ExitGate): () => void {
  if (openGates.size === 0) process.on("exit", shutAll);
  openGates.add(gate);
  return () => {
    openGates.delete(gate);
    if (openGates.size === 0) process.off("exit", shutAll);
  };
}

function shutAll(): void {
  for (const gate of openGates) shutGate(gate);
}
