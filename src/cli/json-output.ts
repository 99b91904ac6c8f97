import type { Call } from "./call.ts";
import { printableJson } from "./format/printable.ts";
import { exitCodes } from "./usage.ts";

export function wantsJson({ flags }: Pick<Call, "flags">): boolean {
  return flags.has("json");
}

/** An answer as it came: the same value, with nothing in it that a terminal would obey. */
export function printJson({ screen }: Pick<Call, "screen">, text: string): number {
  screen.out(printableJson(text));
  return exitCodes.ok;
}
