import type { BlockKind } from "../engine/frames/index.ts";
import { estimatePart, estimateText } from "./estimate.ts";
import { imageHead } from "./image-tokens.ts";

/** Longer texts are only sampled: the count serves until the provider reports its own. */
const wholeBytesMax = 2 * 1024;
const sampleBytes = 400;
const samples = 5;

export type CountedUnit = { readonly bytes: Uint8Array; readonly kind: BlockKind };

/**
 * Estimated tokens of a unit, by the shape of its text. Corrections learnt from reported usage are not
 * included: see `Calibration`. The cost of the estimate is bounded, whatever the size of the unit.
 */
export function unitTokens({ bytes, kind }: CountedUnit, model: string | null): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (kind === "reasoning") return reasoningTokens(buffer, model);
  if (holdsImage({ bytes, kind })) return imageUnitTokens(buffer, model);
  const around = kind === "tool-call" ? callAround : kind === "tool-result" ? resultAround : null;
  return Math.ceil(sampledTokens(buffer, model)) + (around === null ? 0 : estimatePart(around, model));
}

/** Only blocks of the client can hold an image; the input of a call may mention base64. */
function holdsImage({ bytes, kind }: CountedUnit): boolean {
  if (kind !== "media" && kind !== "tool-result" && kind !== "user") return false;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.includes('"media_type"') && buffer.includes('"base64"');
}

const callAround = { kind: "call", text: "" } as const;
const resultAround = { kind: "result", text: "" } as const;

/** The length of hidden reasoning is estimated from its signature. */
function reasoningTokens(bytes: Buffer, model: string | null): number {
  const start = bytes.indexOf('"thinking":"');
  const isEmpty = start === -1 || bytes[start + '"thinking":"'.length] === quote;
  if (!isEmpty) return Math.ceil(sampledTokens(bytes.subarray(0, signatureAt(bytes)), model));
  return estimatePart({ kind: "reasoning", text: "", signatureLength: bytes.length }, model);
}

const quote = 0x22;

function signatureAt(bytes: Buffer): number {
  const at = bytes.indexOf('"signature":"');
  return at === -1 ? bytes.length : at;
}

/** Counts each image by the size in its first bytes, and the text around the images. */
function imageUnitTokens(bytes: Buffer, model: string | null): number {
  let [tokens, end] = [0, 0];
  for (let at = bytes.indexOf(dataField); at !== -1; at = bytes.indexOf(dataField, end)) {
    const start = bytes.indexOf('"', at + dataField.length) + 1;
    const stop = start === 0 ? -1 : bytes.indexOf('"', start);
    if (stop === -1) break;
    const head = imageHead(bytes.toString("latin1", start, Math.min(stop, start + 4 * 1024)));
    tokens += estimatePart({ kind: "image", head }, model) + sampledTokens(bytes.subarray(end, at), model);
    end = stop;
  }
  return Math.ceil(tokens + sampledTokens(bytes.subarray(end), model));
}

const dataField = '"data"';

/** Estimates a long text from samples. */
export function sampledTokens(bytes: Buffer, model: string | null): number {
  if (bytes.length <= wholeBytesMax) return textTokens(bytes.toString("utf8"), model);
  const step = (bytes.length - sampleBytes) / (samples - 1);
  let tokens = 0;
  for (let at = 0; at < samples; at += 1) {
    const start = Math.floor(at * step);
    tokens += textTokens(bytes.toString("utf8", start, start + sampleBytes), model);
  }
  return (tokens / (samples * sampleBytes)) * bytes.length;
}

/** A client may write every non-ASCII letter as an escape; it counts as the letter. */
function textTokens(json: string, model: string | null): number {
  const text = json.includes("\\u")
    ? json.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : json;
  return estimateText(text, model);
}

/**
 * Maximum bytes that are read for one request; the rest of a long first request is estimated by its length.
 */
const readBytesMax = 64 * 1024;

/** Counts the units of one request at a bounded cost. */
export class TokenCounter {
  readonly #model: string | null;
  readonly #rate: number;
  #readBytes = 0;
  #bytes = 0;
  #tokens = 0;

  /** `rate` is the provider's count for each token of our estimate. */
  constructor(model: string | null, rate: number) {
    this.#model = model;
    this.#rate = rate;
  }

  count(unit: CountedUnit): number {
    const { length } = unit.bytes;
    // An image tells nothing about texts, and its length nothing about its tokens.
    const isImage = holdsImage(unit);
    if (this.#readBytes >= readBytesMax && !isImage) {
      return Math.ceil((length * this.#tokens * this.#rate) / Math.max(1, this.#bytes));
    }
    const tokens = unitTokens(unit, this.#model);
    this.#readBytes += Math.min(length, samples * sampleBytes);
    if (!isImage) {
      this.#bytes += length;
      this.#tokens += tokens;
    }
    return Math.ceil(tokens * this.#rate);
  }
}
