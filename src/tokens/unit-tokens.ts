import type { BlockKind, ContentForm } from "../engine/frames/index.ts";
import { contentStretches } from "../protocols/index.ts";
import { estimatePart, estimateText, type TokenPart } from "./estimate.ts";
import { imageHead } from "./image-tokens.ts";

/** Longer texts are only sampled: the count serves until the provider reports its own. */
const wholeBytesMax = 2 * 1024;
const sampleBytes = 400;
const samples = 5;

/** A unit, with the form of its bytes as stored content has it. */
export type CountedUnit = {
  readonly bytes: Uint8Array;
  readonly kind: BlockKind;
  readonly form?: ContentForm;
};

type Stretches = ReturnType<typeof contentStretches>;

/**
 * Estimated tokens of a unit, by the shape of its text. Corrections learnt from reported usage are not
 * included: see `Calibration`. The cost of the estimate is bounded, whatever the size of the unit.
 */
export function unitTokens(unit: CountedUnit, model: string | null): number {
  return stretchTokens(unit, contentStretches(unit.bytes, unit), model);
}

function stretchTokens({ bytes, kind }: CountedUnit, stretches: Stretches, model: string | null): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let tokens = 0;
  for (const { type, start, end } of stretches) {
    if (type === "text") tokens += sampledTokens(buffer.subarray(start, end), model);
    else if (type === "media") tokens += mediaTokens(buffer, { start, end }, model);
    else tokens += estimatePart({ kind: "reasoning", text: "", signatureLength: end - start }, model);
  }
  const around = holdsMedia(stretches) ? null : (overheads[kind] ?? null);
  return Math.ceil(tokens) + (around === null ? 0 : estimatePart(around, model));
}

/** A picture is counted by the size in its first bytes; the length of its bytes tells nothing. */
function mediaTokens(bytes: Buffer, range: Omit<Stretches[number], "type">, model: string | null): number {
  const base64 = bytes.toString("latin1", range.start, Math.min(range.end, range.start + headCharsMax));
  return estimatePart({ kind: "image", head: imageHead(base64) }, model);
}

const headCharsMax = 4 * 1024;

const overheads: Readonly<Partial<Record<BlockKind, TokenPart>>> = {
  "tool-call": { kind: "call", text: "" },
  "tool-result": { kind: "result", text: "" },
};

function holdsMedia(stretches: Stretches): boolean {
  return stretches.some(({ type }) => type === "media");
}

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
    const stretches = contentStretches(unit.bytes, unit);
    // An image tells nothing about texts, and its length nothing about its tokens.
    const isImage = holdsMedia(stretches);
    if (this.#readBytes >= readBytesMax && !isImage) {
      return Math.ceil((length * this.#tokens * this.#rate) / Math.max(1, this.#bytes));
    }
    const tokens = stretchTokens(unit, stretches, this.#model);
    this.#readBytes += Math.min(length, samples * sampleBytes);
    if (!isImage) {
      this.#bytes += length;
      this.#tokens += tokens;
    }
    return Math.ceil(tokens * this.#rate);
  }
}
