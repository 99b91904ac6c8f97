import { Child } from "./child.ts";

/** The programs that are compared: the upstream itself, minimal proxies, and Aperture in two modes. */
export const targets = ["direct", "bare", "observe", "auto", "parse"] as const;
export type Target = (typeof targets)[number];
export type Targets = Readonly<Record<Target, Child>>;

export async function startTargets(): Promise<Targets> {
  const direct = await Child.start("./upstream.js");
  const port = `${direct.port}`;
  return {
    direct,
    bare: await Child.start("./floors.js", "bare", port),
    parse: await Child.start("./floors.js", "parse", port),
    observe: await Child.start("./aperture.js", port, "observe"),
    auto: await Child.start("./aperture.js", port, "auto"),
  };
}

/** Waits until everything is recorded, so that it does not slow down the next measurement. */
export async function waitUntilRecorded({ observe, auto }: Targets): Promise<void> {
  await observe.waitUntilRecorded();
  await auto.waitUntilRecorded();
}

export function timesText(value: number): string {
  return `${value.toFixed(2)}x`;
}
