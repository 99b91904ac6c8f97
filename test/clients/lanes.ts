const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let next = 0;

/** Runs two tasks at a time: clients mostly wait, but more of them would slow each other down. */
export function inLane<T>(task: () => Promise<T>): Promise<T> {
  next += 1;
  const lane = next % lanes.length;
  const done = (lanes[lane] ?? Promise.resolve()).then(task);
  lanes[lane] = done.catch(() => undefined);
  return done;
}
