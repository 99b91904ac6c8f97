import type { ByteRange, JsonMember } from "../json-scan.ts";
import type { WireRequest } from "../wire.ts";

/** The bytes of a body in order; unchanged parts are slices of the client's body. */
export type EmittedPieces = readonly Uint8Array[];

/** Fields to write in place of the client's; null leaves the client's field out. */
export type FieldReplacements = ReadonlyMap<string, EmittedPieces | null>;

/** A JSON object in bytes, with the ranges of its fields. */
export type WireObject = Pick<WireRequest, "bytes" | "members">;

/** Writes the body with some of its fields replaced, in the client's order; new fields come last. */
export function emitBody({ bytes, members }: WireObject, replacements: FieldReplacements): EmittedPieces {
  const pieces: Uint8Array[] = [];
  const clientKeys = new Set(members.map(({ key }) => key));
  let run: ByteRange | null = null;
  const flush = (): void => {
    if (run !== null) pieces.push(separator(pieces), bytes.subarray(run.start, run.end));
    run = null;
  };
  for (const member of members) {
    const value = replacements.get(member.key);
    if (value === undefined) {
      run = { start: run === null ? member.keyStart : (run as ByteRange).start, end: member.value.end };
      continue;
    }
    flush();
    if (value !== null) pieces.push(separator(pieces), keyBytes(bytes, member), ...value);
  }
  flush();
  for (const [key, value] of replacements) {
    if (clientKeys.has(key) || value === null) continue;
    pieces.push(separator(pieces), Buffer.from(`${JSON.stringify(key)}:`), ...value);
  }
  pieces.push(pieces.length === 0 ? Buffer.from("{}") : CLOSE);
  return pieces;
}

const OPEN = Buffer.from("{");
const CLOSE = Buffer.from("}");
const COMMA = Buffer.from(",");

function separator(before: readonly Uint8Array[]): Uint8Array {
  return before.length === 0 ? OPEN : COMMA;
}

function keyBytes(bytes: Buffer, { keyStart, value }: JsonMember): Uint8Array {
  return bytes.subarray(keyStart, value.start);
}

/** A cache mark for the block that ends at `end`. */
export type PlacedMark = { readonly end: number; readonly mark: string };

/** Writes bytes that hold blocks, with cache marks on some of them. */
export function emitMarked(bytes: Buffer, marks: readonly PlacedMark[]): EmittedPieces {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { end, mark } of [...marks].sort((a, b) => a.end - b.end)) {
    pieces.push(bytes.subarray(from, end - 1), Buffer.from(`,"cache_control":${mark}`));
    from = end - 1;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** Writes a list of blocks, each with its cache mark or none. */
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

/** The head and tail of a system message of ours; the model sees a self-clearing one for a single turn. */
export function systemMessage(isForOneTurn: boolean): { readonly head: string; readonly tail: string } {
  const clearAt = isForOneTurn ? '"clear_at":"next_user_message",' : "";
  return { head: `{"role":"system",${clearAt}"content":[`, tail: "]}" };
}

/** True if `systemMessage` made this head, for a self-clearing message. */
export function isSelfClearing(head: string): boolean {
  return head === systemMessage(true).head;
}
