const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let next = 0;

/** Runs two things at a time: clients mostly wait, but more of them would only make each other late. */
export function inLane<T>(work: () => Promise<T>): Promise<T> {
  next += 1;
  const lane = next % lanes.length;
  const done = (lanes[lane] ?? Promise.resolve()).then(work);
  lanes[lane] = done.catch(() => undefined);
  return done;
}
