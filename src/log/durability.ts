import type { SessionLog } from "./session-log.ts";

/** Part of the result of every act: would the change survive a power cut? */
export type Durability = { readonly durable: boolean };

/** A disk that takes longer is in trouble: the caller gets that answer instead of waiting for it. */
const durableMsMax = 2_000;

/** Resolves as soon as the log is on disk, or with false after `msMax`. */
export async function isDurableInTime(
  log: Pick<SessionLog, "durable">,
  msMax = durableMsMax,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), msMax);
  });
  const stored = log.durable().then(({ ok: isStored }) => isStored);
  const isDurable = await Promise.race([stored, late]);
  clearTimeout(timer);
  return isDurable;
}

const notYet = "It holds now, but it is not on disk yet: a power cut would undo it.";

/** Adds a warning to the text of an act that is not on disk yet. */
export function withDurabilityNote(text: string, { durable }: Durability): string {
  return durable ? text : `${text}\n${notYet}`;
}
