/** Resolves after the browser painted the current render, so that deferred work does not delay it. */
export function afterPaint(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
  });
}
