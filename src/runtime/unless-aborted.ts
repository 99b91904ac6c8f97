/** A timer takes no more. */
export const timerMsMax = 2 ** 31 - 1;

/** What a promise comes to, or what is said instead as soon as the signal ends; then nobody waits for it. */
export async function unlessAborted<T>(
  signal: AbortSignal,
  promise: Promise<T>,
  instead: () => NoInfer<T>,
): Promise<T> {
  let end: () => void = () => undefined;
  const aborted = new Promise<T>((resolve) => {
    end = () => resolve(instead());
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}
