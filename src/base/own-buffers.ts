/** Buffers that bytes have to themselves: these can be handed over to another thread, and are not copied. */
export function ownBuffers(all: readonly unknown[]): ArrayBuffer[] {
  const buffers = all.flatMap((bytes) => {
    if (!(bytes instanceof Uint8Array) || !(bytes.buffer instanceof ArrayBuffer)) return [];
    return bytes.byteLength > 0 && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
  });
  return [...new Set(buffers)];
}
