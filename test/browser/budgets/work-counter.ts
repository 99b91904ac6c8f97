import type { Panel } from "../panel-setup.ts";

/** The work of a page since the last reset, counted by the browser. None of it depends on the clock. */
export type Work = {
  /** Calls of functions of the page's scripts. */
  readonly calls: number;
  readonly layouts: number;
  readonly styles: number;
};

export type WorkCounter = {
  readonly reset: () => Promise<void>;
  readonly take: () => Promise<Work>;
};

/** Counts with the DevTools protocol: precise coverage counts calls without sampling. */
export async function countWork({ context, page }: Panel): Promise<WorkCounter> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("Performance.enable");
  await devTools.send("Profiler.enable");
  await devTools.send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const metrics = async () => {
    const { metrics: rows } = await devTools.send("Performance.getMetrics");
    const readMetric = (name: string): number => rows.find((row) => row.name === name)?.value ?? 0;
    return { layouts: readMetric("LayoutCount"), styles: readMetric("RecalcStyleCount") };
  };
  const takeCalls = async (): Promise<number> => {
    const { result } = await devTools.send("Profiler.takePreciseCoverage");
    const functions = result
      .filter(({ url }) => url.includes("/assets/"))
      .flatMap((script) => script.functions);
    return functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  };
  let before = await metrics();
  return {
    reset: async () => {
      before = await metrics();
      await takeCalls();
    },
    take: async () => {
      const after = await metrics();
      const calls = await takeCalls();
      return { calls, layouts: after.layouts - before.layouts, styles: after.styles - before.styles };
    },
  };
}
