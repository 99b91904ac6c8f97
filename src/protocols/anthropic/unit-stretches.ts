import type { BlockKind } from "../../engine/frames/index.ts";
import type { UnitStretch } from "../protocol.ts";

/** Scans for fields instead of parsing: units are counted on the way to the provider, and may be large. */
export function unitStretches(bytes: Uint8Array, kind: BlockKind): readonly UnitStretch[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (kind === "reasoning") return [reasoningStretch(buffer)];
  return holdsMedia(buffer, kind) ? mediaStretches(buffer) : [{ type: "text", start: 0, end: bytes.length }];
}

const textField = '"thinking":"';
const signatureField = '"signature":"';
const quote = 0x22;

/** The signature stands behind the text. */
function reasoningStretch(bytes: Buffer): UnitStretch {
  const start = bytes.indexOf(textField);
  const isEmpty = start === -1 || bytes[start + textField.length] === quote;
  if (isEmpty) return { type: "hidden", start: 0, end: bytes.length };
  const signature = bytes.indexOf(signatureField);
  return { type: "text", start: 0, end: signature === -1 ? bytes.length : signature };
}

/** Only blocks of the client can hold media; the input of a call may mention base64. */
function holdsMedia(bytes: Buffer, kind: BlockKind): boolean {
  if (kind !== "media" && kind !== "tool-result" && kind !== "user") return false;
  return bytes.includes('"media_type"') && bytes.includes('"base64"');
}

const dataField = '"data"';

function mediaStretches(bytes: Buffer): readonly UnitStretch[] {
  const stretches: UnitStretch[] = [];
  let end = 0;
  for (let at = bytes.indexOf(dataField); at !== -1; at = bytes.indexOf(dataField, end)) {
    const start = bytes.indexOf('"', at + dataField.length) + 1;
    const stop = start === 0 ? -1 : bytes.indexOf('"', start);
    if (stop === -1) break;
    stretches.push({ type: "text", start: end, end: at }, { type: "media", start, end: stop });
    end = stop;
  }
  return [...stretches, { type: "text", start: end, end: bytes.length }];
}
