import type { Sending } from "../desk-port.ts";
import { keyOf } from "./lines.ts";
import { type Read, rawSending, withoutMemory } from "./read-request.ts";
import type { Withholding } from "./withholding.ts";

/** Beside a talk that nobody knows; what is withheld in its session is left out. */
export function besideUnknown(withholding: Withholding, read: Read): Sending {
  const { asking, body, belonging } = read;
  const withheld = withholding.for(asking, belonging);
  if (withheld.size === 0) return rawSending(asking, body, false);
  return withoutMemory({ key: keyOf(asking, belonging), withheld, talkName: null }, read);
}
