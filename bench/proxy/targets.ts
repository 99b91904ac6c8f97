import { Child } from "./child.ts";

/** What is measured side by side: the upstream itself, proxies that do little, and Aperture in two modes. */
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

/** What is still being written down must not be charged to whoever is measured next. */
export async function settle({ observe, auto }: Targets): Promise<void> {
  await observe.settled();
  await auto.settled();
}

export function x(value: number): string {
  return `${value.toFixed(2)}x`;
}
