import type { ByteRange, JsonMember } from "../json-scan.ts";
import type {
  BodyParts,
  EmittedPieces,
  MarkedUnit,
  PlacedMark,
  RequestInput,
  ToolDefinition,
  WritableGroup,
} from "../protocol.ts";
import { type UnitWrapper, unitBytes, type WireGroup, type WireRequest, type WireUnit } from "../wire.ts";

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
export function emitList(units: readonly MarkedUnit[]): EmittedPieces {
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

export function toolBlock({ name, description, schema }: ToolDefinition): Buffer {
  return Buffer.from(JSON.stringify({ name, description, input_schema: schema }));
}

/** A message of ours with a list of blocks. */
export function ownMessage(role: "user" | "assistant"): UnitWrapper {
  return { role, head: `{"role":"${role}","content":[`, tail: "]}" };
}

export const selfClearingHead = '{"role":"system","clear_at":"next_user_message","content":[';

/** A system message of ours; the model sees a self-clearing one for a single turn. */
export function systemMessage(isSelfClearing: boolean): UnitWrapper {
  const common = { role: "system", tail: "]}" } as const;
  if (isSelfClearing) return { ...common, head: selfClearingHead, isSelfClearing };
  return { ...common, head: '{"role":"system","content":[' };
}

/** The client's own block with its cache mark. */
export function clientBlock({ bytes }: WireRequest, { range }: WireGroup, unit: WireUnit): Uint8Array {
  const block = Buffer.from(unitBytes(bytes, range.start, unit));
  if (unit.mark === null) return block;
  return Buffer.concat(emitMarked(block, [{ end: block.length, mark: unit.mark }]));
}

/** Writes the body with some of its parts replaced. */
export function writeBody(request: WireRequest, parts: BodyParts): EmittedPieces {
  const { tools, system, messages, answerTokensMax, dropsAutomaticMark, edit = null } = parts;
  const replaced = new Map<string, EmittedPieces | null>();
  if (messages !== undefined) replaced.set("messages", [Buffer.from("["), ...messages]);
  if (tools !== undefined) replaced.set("tools", tools);
  if (system !== undefined) replaced.set("system", system);
  if (answerTokensMax !== undefined) replaced.set("max_tokens", [Buffer.from(`${answerTokensMax}`)]);
  if (dropsAutomaticMark === true && request.automaticMark !== null) replaced.set("cache_control", null);
  if (edit !== null) replaced.set("context_management", [Buffer.from(edit.field)]);
  return emitBody(request, replaced);
}

const ownMark = '{"type":"ephemeral"}';

/** Writes a whole body of our own. */
export function writeRequest({ model, answerTokensMax, tools, system, messages }: RequestInput): Buffer {
  const fields = Buffer.from(`"model":${JSON.stringify(model)},"max_tokens":${answerTokensMax}`);
  const toolList = tools.map((bytes) => ({ bytes, mark: null }));
  const systemList = system.map((bytes, at) => ({ bytes, mark: at === system.length - 1 ? ownMark : null }));
  return Buffer.concat([
    OPEN,
    fields,
    ...(tools.length === 0 ? [] : [Buffer.from(',"tools":'), ...emitList(toolList)]),
    ...(system.length === 0 ? [] : [Buffer.from(',"system":'), ...emitList(systemList)]),
    Buffer.from(',"messages":['),
    ...messages.flatMap((message, at) => [...(at === 0 ? [] : [COMMA]), ...emitMessage(message)]),
    Buffer.from("]}"),
  ]);
}

function emitMessage({ role, units, markedUnit }: WritableGroup): EmittedPieces {
  const { head, tail } = ownMessage(role);
  const list = units.map((bytes, at) => ({ bytes, mark: at === markedUnit ? ownMark : null }));
  const open = Buffer.from(head.slice(0, -1));
  return [open, ...emitList(list), Buffer.from(tail.slice(1))];
}
