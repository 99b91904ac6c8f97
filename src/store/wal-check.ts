import { readFileSync, statSync } from "node:fs";

/**
 * SQLite reads a journal up to the first frame with a wrong checksum and silently drops the rest: right for a
 * write that was cut off, wrong for a bit that flipped in the middle of committed frames. This tells the two
 * apart. The format is that of https://sqlite.org/fileformat2.html#walformat.
 */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;
/** The page size of our databases; needed only if the header itself is damaged. */
const PAGE_BYTES = 4096;
/** A journal has a few megabytes; a far larger one is not read into memory. */
const JOURNAL_BYTES_MAX = 256 * 1024 * 1024;

/** Reads the journal twice: if it changes in between, another process uses it and nothing is lost. */
export function lostFramesOf(path: string): number {
  if (statSync(path).size > JOURNAL_BYTES_MAX) return 0;
  const first = lostFrames(readFileSync(path));
  return first === 0 ? 0 : Math.min(first, lostFrames(readFileSync(path)));
}

/**
 * The number of committed frames behind a frame that cannot be read. Every transaction is synced before the
 * next begins, so a power cut can lose any pages of the last transaction, and only of that.
 */
export function lostFrames(bytes: Uint8Array): number {
  const wal = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (wal.length < HEADER_BYTES + FRAME_HEADER_BYTES) return 0;
  const header = readHeader(wal);
  const frames = Math.floor((wal.length - HEADER_BYTES) / (FRAME_HEADER_BYTES + header.pageBytes));
  const readable = header.valid ? readableFrames(wal, header, frames) : 0;
  const last = lastCommit(wal, header, frames);
  // The last transaction may have been cut off; only an earlier one is known to be synced. The header is
  // synced before any frame.
  const synced = header.valid ? lastCommit(wal, header, last - 1) : last;
  return readable < synced ? last - readable : 0;
}

type WalHeader = {
  readonly valid: boolean;
  readonly pageBytes: number;
  readonly bigEndian: boolean;
  /** The two salts every frame of this journal repeats. */
  readonly salts: Buffer;
  readonly sum: WalChecksum;
};

function readHeader(wal: Buffer): WalHeader {
  const magic = wal.readUInt32BE(0);
  const bigEndian = magic === MAGIC + 1;
  const sum = checksum(wal.subarray(0, 24), { a: 0, b: 0 }, bigEndian);
  const valid = (magic === MAGIC || bigEndian) && isSum(wal, 24, sum);
  if (valid) return { valid, pageBytes: wal.readUInt32BE(8), bigEndian, salts: wal.subarray(16, 24), sum };
  // A damaged header makes SQLite drop the whole journal; its first frame still has the salts.
  return {
    valid,
    pageBytes: PAGE_BYTES,
    bigEndian,
    salts: wal.subarray(HEADER_BYTES + 8, HEADER_BYTES + 16),
    sum,
  };
}

function readableFrames(wal: Buffer, header: WalHeader, frames: number): number {
  let sum = header.sum;
  for (let at = 0; at < frames; at++) {
    const frame = frameAt(wal, header, at);
    sum = checksum(frame.subarray(0, 8), sum, header.bigEndian);
    sum = checksum(frame.subarray(FRAME_HEADER_BYTES), sum, header.bigEndian);
    if (!hasSalts(frame, header) || !isSum(frame, 16, sum)) return at;
  }
  return frames;
}

/** The number of the last frame that ends a transaction of this journal, counted from 1. */
function lastCommit(wal: Buffer, header: WalHeader, frames: number): number {
  for (let at = frames - 1; at >= 0; at--) {
    const frame = frameAt(wal, header, at);
    if (hasSalts(frame, header) && frame.readUInt32BE(4) !== 0) return at + 1;
  }
  return 0;
}

function frameAt(wal: Buffer, { pageBytes }: WalHeader, at: number): Buffer {
  const start = HEADER_BYTES + at * (FRAME_HEADER_BYTES + pageBytes);
  return wal.subarray(start, start + FRAME_HEADER_BYTES + pageBytes);
}

function hasSalts(frame: Buffer, { salts }: WalHeader): boolean {
  return frame.subarray(8, 16).equals(salts);
}

type WalChecksum = { readonly a: number; readonly b: number };

function checksum(bytes: Buffer, { a, b }: WalChecksum, bigEndian: boolean): WalChecksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + view.getUint32(at, !bigEndian) + b) >>> 0;
    b = (b + view.getUint32(at + 4, !bigEndian) + a) >>> 0;
  }
  return { a, b };
}

function isSum(bytes: Buffer, at: number, { a, b }: WalChecksum): boolean {
  return bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b;
}
