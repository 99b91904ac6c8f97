import { Session } from "node:inspector/promises";

/** How often functions of our source were called while `act` ran, as V8 counts it. */
export async function countCalls(act: () => Promise<void>): Promise<(file: string, name: string) => number> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await act();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
  return (file, name) =>
    result
      .filter(({ url }) => url.endsWith(file))
      .flatMap(({ functions }) => functions.filter(({ functionName }) => functionName === name))
      .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
}
