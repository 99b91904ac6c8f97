import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isObject, type JsonObject, parseJsonText } from "./json-text.ts";

/** The facts that a signature covers. */
export type Seal = {
  readonly kind: "thinking" | "redacted_thinking" | "compaction";
  readonly id: string;
  readonly model: string;
  /** The digest of everything before the block. */
  readonly prefix: string;
  /** The reasoning block before this one at signing time, to distinguish a hole from a shorter run. */
  readonly before: string | null;
  /** The digest of the block's own text. */
  readonly text: string;
};

export type Signer = {
  readonly sign: (seal: Seal) => string;
  /** Null for a signature that this signer has not made, or that was changed since. */
  readonly open: (signature: string) => Seal | null;
};

const macBytes = 32;

export function makeSigner(secret: string): Signer {
  const macOf = (json: Buffer): Buffer => createHmac("sha256", secret).update(json).digest();
  return {
    sign: (seal) => {
      const json = Buffer.from(JSON.stringify(seal));
      return Buffer.concat([macOf(json), json]).toString("base64");
    },
    open: (signature) => {
      const bytes = Buffer.from(signature, "base64");
      // Decoding is lenient, but a signature must come back character by character.
      if (bytes.length <= macBytes || bytes.toString("base64") !== signature) return null;
      const json = bytes.subarray(macBytes);
      if (!timingSafeEqual(bytes.subarray(0, macBytes), macOf(json))) return null;
      const parsed = parseJsonText(json);
      return parsed.type === "value" && isObject(parsed.value) ? sealOf(parsed.value) : null;
    },
  };
}

export function digestOf(...texts: readonly string[]): string {
  let whole = "";
  // Lengths keep "ab" + "c" apart from "a" + "bc".
  for (const text of texts) whole += `${text.length}:${text}`;
  return createHash("sha256").update(whole).digest("base64url").slice(0, 32);
}

function sealOf(record: JsonObject): Seal {
  return record as unknown as Seal; // its code says that this signer wrote it
}
