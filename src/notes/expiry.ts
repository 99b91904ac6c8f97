import { type IdList, readIds, writeIds } from "./sizes-and-ids.ts";

/** Blocks that are lowered at the same turn. */
export type Expiry = { readonly blocks: IdList; readonly at: number };

/** `#12 #15 at 40, #18 at 41` */
export function writeExpiries(expiries: readonly Expiry[]): string {
  return expiries.map(({ blocks, at }) => `${writeIds(blocks)} at ${at}`).join(", ");
}

export function readExpiries(text: string): readonly Expiry[] | null {
  const expiries = text.split(", ").map(readExpiry);
  return expiries.some((expiry) => expiry === null) ? null : expiries.flatMap((expiry) => expiry ?? []);
}

function readExpiry(text: string): Expiry | null {
  const [, ids = "", at] = /^(.*) at (\d+)$/.exec(text) ?? [];
  const blocks = at === undefined ? null : readIds(ids);
  return blocks === null ? null : { blocks, at: Number(at) };
}
