const MASK = 0x2a;

/**
 * Replaces secrets by as many asterisks, in place. A credential belongs to a request's headers; where it also
 * stands in a body (a provider that quotes the key it refused, a client that sends it twice) the record of
 * that body differs from what was relayed, and says so.
 */
export function maskSecrets(bytes: Uint8Array, secrets: readonly string[]): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = false;
  for (const secret of secrets) {
    const wanted = Buffer.from(secret);
    for (let at = find(buffer, wanted, 0); at !== -1; at = find(buffer, wanted, at + wanted.length)) {
      buffer.fill(MASK, at, at + wanted.length);
      found = true;
    }
  }
  return found;
}

function find(buffer: Buffer, wanted: Buffer, from: number): number {
  return wanted.length === 0 ? -1 : buffer.indexOf(wanted, from);
}
