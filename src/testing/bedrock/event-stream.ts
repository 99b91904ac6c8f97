import { crc32 } from "node:zlib";

/** Headers with string values: model APIs use no other type. */
export type FrameHeaders = Readonly<Record<string, string>>;

const TEXT_VALUE = 7;
const preludeBytes = 12;
const checksumBytes = 4;

/**
 * One message of the binary event stream of AWS: its length, the length of its headers, a checksum of both,
 * the headers, the payload, and a checksum of everything before.
 */
export function eventFrame(headers: FrameHeaders, payload: Uint8Array): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(headerBytes));
  const length = preludeBytes + head.length + payload.length + checksumBytes;
  const prelude = Buffer.alloc(preludeBytes);
  prelude.writeUInt32BE(length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const body = Buffer.concat([prelude, head, payload]);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([body, checksum]);
}

export function jsonFrame(eventType: string, payload: object): Buffer {
  return typedFrame({ ":event-type": eventType, ":message-type": "event" }, payload);
}

/** The frame that ends an answer with an error. Its name is in lower camel case here, unlike in a refusal. */
export function exceptionFrame(exceptionType: string, message: string): Buffer {
  return typedFrame({ ":exception-type": exceptionType, ":message-type": "exception" }, { message });
}

function typedFrame(headers: FrameHeaders, payload: object): Buffer {
  const all = { ...headers, ":content-type": "application/json" };
  return eventFrame(all, Buffer.from(JSON.stringify(payload)));
}

function headerBytes([name, value]: readonly [string, string]): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([
    Buffer.from([nameBytes.length]),
    nameBytes,
    Buffer.from([TEXT_VALUE]),
    length,
    valueBytes,
  ]);
}
