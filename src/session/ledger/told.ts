import type { Sending } from "../desk-port.ts";
import type { Line } from "./line.ts";

/** A model has answered to what it was told: it is not told the same again, however late the log is. */
export function noteTold(line: Line, { rendering, sent }: Sending): void {
  if (rendering === "managed") line.toldSeq = Math.max(line.toldSeq, sent?.briefed ?? 0);
}
