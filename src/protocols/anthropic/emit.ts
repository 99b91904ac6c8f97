import type { Member } from "../json-scan.ts";
import type { WireRequest } from "../wire.ts";

/** Bytes of a body in order; what was not touched are slices of what arrived. */
export type EmittedPieces = readonly Uint8Array[];

/** A field to write in place of the client's, or null to leave the client's out. */
export type Replaced = ReadonlyMap<string, EmittedPieces | null>;

/** An object as it was written, with where its fields lie. */
export type Written = Pick<WireRequest, "bytes" | "members">;

/** The body with some of its fields replaced, in the client's order; new fields come last. */
export function emitBody({ bytes, members }: Written, replaced: Replaced): EmittedPieces {
  const pieces: Uint8Array[] = [];
  const known = new Set(members.map(({ key }) => key));
  let run: Range | null = null;
  const flush = (): void => {
    if (run !== null) pieces.push(separator(pieces), bytes.subarray(run.start, run.end));
    run = null;
  };
  for (const member of members) {
    const value = replaced.get(member.key);
    if (value === undefined) {
      run = { start: run === null ? member.keyStart : (run as Range).start, end: member.value.end };
      continue;
    }
    flush();
    if (value !== null) pieces.push(separator(pieces), keyBytes(bytes, member), ...value);
  }
  flush();
  for (const [key, value] of replaced) {
    if (known.has(key) || value === null) continue;
    pieces.push(separator(pieces), Buffer.from(`${JSON.stringify(key)}:`), ...value);
  }
  pieces.push(pieces.length === 0 ? Buffer.from("{}") : CLOSE);
  return pieces;
}

type Range = { readonly start: number; readonly end: number };

const OPEN = Buffer.from("{");
const CLOSE = Buffer.from("}");
const COMMA = Buffer.from(",");

function separator(before: readonly Uint8Array[]): Uint8Array {
  return before.length === 0 ? OPEN : COMMA;
}

function keyBytes(bytes: Buffer, { keyStart, value }: Member): Uint8Array {
  return bytes.subarray(keyStart, value.start);
}

/** A mark to be put on the block that ends there. */
export type MarkAt = { readonly end: number; readonly mark: string };

/** Bytes that hold blocks, with cache marks put on some of them. */
export function emitMarked(bytes: Buffer, marks: readonly MarkAt[]): EmittedPieces {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { end, mark } of [...marks].sort((a, b) => a.end - b.end)) {
    pieces.push(bytes.subarray(from, end - 1), Buffer.from(`,"cache_control":${mark}`));
    from = end - 1;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** A list of blocks, each with its mark or none. */
export function emitList(
  units: readonly { readonly bytes: Uint8Array; readonly mark: string | null }[],
): EmittedPieces {
  const pieces: Uint8Array[] = [Buffer.from("[")];
  for (const [at, { bytes, mark }] of units.entries()) {
    if (at > 0) pieces.push(COMMA);
    if (mark === null) pieces.push(bytes);
    else pieces.push(...emitMarked(Buffer.from(bytes), [{ end: bytes.length, mark }]));
  }
  pieces.push(Buffer.from("]"));
  return [Buffer.concat(pieces)];
}

export function textBlock(text: string): Buffer {
  return Buffer.from(`{"type":"text","text":${JSON.stringify(text)}}`);
}

/** How a system message of ours begins and ends; one that clears itself is shown for a single turn. */
export function systemMessage(clears: boolean): { readonly head: string; readonly tail: string } {
  const clearAt = clears ? '"clear_at":"next_user_message",' : "";
  return { head: `{"role":"system",${clearAt}"content":[`, tail: "]}" };
}

/** Whether a message with this beginning was made by `systemMessage` to clear itself. */
export function isClearing(head: string): boolean {
  return head === systemMessage(true).head;
}
