import type { BlockKind } from "../engine/index.ts";
import { estimatePart, estimateText, imageHead } from "../tokens/index.ts";

/** Longer texts are looked at in samples: the count is for what comes before the provider's own. */
const wholeBytesMax = 2 * 1024;
const sampleBytes = 400;
const samples = 5;

export type SizedUnit = { readonly bytes: Uint8Array; readonly kind: BlockKind };

/**
 * Tokens a unit is likely to take, by what it is made of. What reported usage teaches about the model is not
 * in it: see `Calibration`. Its cost has a bound, whatever the size of the unit.
 */
export function unitTokens({ bytes, kind }: SizedUnit, model: string | null): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (kind === "reasoning") return reasoningTokens(buffer, model);
  if (holdsImage({ bytes, kind })) return imageTokens(buffer, model);
  const around = kind === "tool-call" ? callAround : kind === "tool-result" ? resultAround : null;
  return Math.ceil(sampledTokens(buffer, model)) + (around === null ? 0 : estimatePart(around, model));
}

/** Only what a client says may hold one; a call may well speak of base64. */
function holdsImage({ bytes, kind }: SizedUnit): boolean {
  if (kind !== "media" && kind !== "tool-result" && kind !== "user") return false;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.includes('"media_type"') && buffer.includes('"base64"');
}

const callAround = { kind: "call", text: "" } as const;
const resultAround = { kind: "result", text: "" } as const;

/** Reasoning that is kept back is as long as its signature tells. */
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

/** Each image by the size its first bytes tell, and the words around them. */
function imageTokens(bytes: Buffer, model: string | null): number {
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

/** Of a text that is looked at here and there. */
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

/** A client may write every letter that is not ASCII as its code. */
function textTokens(json: string, model: string | null): number {
  const text = json.includes("\\u")
    ? json.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : json;
  return estimateText(text, model);
}

/** So many bytes are looked at for one request: what is left of a long first one is told by its length. */
const lookedAtMax = 64 * 1024;

/** Counts the units of one request, at a cost that has a bound. */
export class TokenGauge {
  readonly #model: string | null;
  readonly #rate: number;
  #looked = 0;
  #bytes = 0;
  #tokens = 0;

  /** `rate`: what the provider has counted for each token we would have. */
  constructor(model: string | null, rate: number) {
    this.#model = model;
    this.#rate = rate;
  }

  count(unit: SizedUnit): number {
    const { length } = unit.bytes;
    // An image says nothing about how texts go, and its length nothing about its size.
    const isImage = holdsImage(unit);
    if (this.#looked >= lookedAtMax && !isImage) {
      return Math.ceil((length * this.#tokens * this.#rate) / Math.max(1, this.#bytes));
    }
    const tokens = unitTokens(unit, this.#model);
    this.#looked += Math.min(length, samples * sampleBytes);
    if (!isImage) {
      this.#bytes += length;
      this.#tokens += tokens;
    }
    return Math.ceil(tokens * this.#rate);
  }
}
