import type { SessionLog } from "../session-log.ts";

/** Whether what was done would survive a power cut: what every act is answered with. */
export type Durable = { readonly durable: boolean };

/** A disk that takes longer is in trouble, and whoever acted is told so instead of waiting for it. */
const durableMsMax = 2_000;

/** Answers as soon as the log is on disk, or when that takes too long. */
export async function isDurableSoon(
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

/** The words for what was done, and where it is not on disk, that too. */
export function withDurable(text: string, { durable }: Durable): string {
  return durable ? text : `${text}\n${notYet}`;
}
