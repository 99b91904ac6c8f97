/** Names a wish, so that it is not done twice. Unlike `randomUUID`, it is there on plain http too. */
export function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
