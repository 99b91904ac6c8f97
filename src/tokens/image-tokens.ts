import type { Family } from "./family.ts";

export type ImageSize = { readonly width: number; readonly height: number };

/** Width and height from the first bytes of a PNG, GIF, WebP or JPEG file. Null if they do not hold them. */
export function imageSize(head: Uint8Array): ImageSize | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const size = pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view);
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

/** Decodes enough of an image to find its size behind camera metadata, which may fill 64 KB. */
export function imageHead(base64: string): Uint8Array {
  return Buffer.from(base64.slice(0, 96 * 1024), "base64");
}

const pngMark = 0x89504e47;
const gifMark = 0x47494638;
const riffMark = 0x52494646;
const webpMark = 0x57454250;

function pngSize(view: DataView): ImageSize | null {
  if (view.byteLength < 24 || view.getUint32(0) !== pngMark) return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(view: DataView): ImageSize | null {
  if (view.byteLength < 10 || view.getUint32(0) !== gifMark) return null;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** WebP has three kinds of first chunk, each with its own form of the size. */
function webpSize(view: DataView): ImageSize | null {
  const isWebp = view.byteLength >= 30 && view.getUint32(0) === riffMark && view.getUint32(8) === webpMark;
  if (!isWebp) return null;
  const chunk = view.getUint32(12);
  if (chunk === 0x56503858) return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
  if (chunk === 0x56503820) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (chunk !== 0x5650384c) return null;
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

/** Skips segments by their length; the one that starts the frame holds the size. */
function jpegSize(view: DataView): ImageSize | null {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null;
    const kind = view.getUint8(at + 1);
    if (startsFrame(kind)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    // A fill byte may precede the marker; any other segment is skipped whole.
    at += kind === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

function startsFrame(kind: number): boolean {
  const isTable = kind === 0xc4 || kind === 0xc8 || kind === 0xcc;
  return kind >= 0xc0 && kind <= 0xcf && !isTable;
}

/** Tokens of an image of unknown size. */
const unknownImage: Readonly<Record<Family, number>> = {
  claude: 1_500,
  gpt: 765,
  gemini: 1_032,
  unknown: 1_500,
};

export function imageTokens(size: ImageSize | null, family: Family): number {
  if (size === null) return unknownImage[family];
  switch (family) {
    case "gpt":
      return tileCount(shrink(shrink(size, 2_048, Math.max), 768, Math.min), 512) * 170 + 85;
    case "gemini":
      return Math.max(size.width, size.height) <= 384
        ? 258
        : tileCount(shrink(size, 3_072, Math.max), 768) * 258;
    case "claude":
    case "unknown": {
      const { width, height } = shrink(size, 1_568, Math.max);
      return Math.max(1, Math.min(1_600, Math.ceil((width * height) / 750)));
    }
  }
}

/** Scales an image so that its longer (`Math.max`) or shorter (`Math.min`) side is within the limit. */
function shrink(
  { width, height }: ImageSize,
  limit: number,
  side: (width: number, height: number) => number,
): ImageSize {
  const factor = Math.min(1, limit / side(width, height));
  return { width: width * factor, height: height * factor };
}

function tileCount({ width, height }: ImageSize, edge: number): number {
  return Math.ceil(width / edge) * Math.ceil(height / edge);
}
