/** Buffers that one byte array fills alone: these are moved to another thread instead of being copied. */
export function transferableBuffers(values: readonly unknown[]): ArrayBuffer[] {
  const buffers = values.flatMap((bytes) => {
    if (!(bytes instanceof Uint8Array) || !(bytes.buffer instanceof ArrayBuffer)) return [];
    return bytes.byteLength > 0 && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
  });
  return [...new Set(buffers)];
}
