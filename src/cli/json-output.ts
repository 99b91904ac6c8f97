import { exitCodes } from "./exit-codes.ts";
import { printableJson } from "./format/printable.ts";
import type { VerbCall } from "./verb-call.ts";

export function wantsJson({ flags }: Pick<VerbCall, "flags">): boolean {
  return flags.has("json");
}

/** Prints the same JSON value, with control characters written as escapes. */
export function printJson({ screen }: Pick<VerbCall, "screen">, text: string): number {
  screen.out(printableJson(text));
  return exitCodes.ok;
}
