/** The longest delay that `setTimeout` takes. */
export const timerMsMax = 2 ** 31 - 1;

/**
 * Resolves to the promise's value, or to `instead()` as soon as the signal aborts; the promise is then
 * ignored.
 */
export async function raceAbort<T>(
  signal: AbortSignal,
  promise: Promise<T>,
  instead: () => NoInfer<T>,
): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<T>((resolve) => {
    onAbort = () => resolve(instead());
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
