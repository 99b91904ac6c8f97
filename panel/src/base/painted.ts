/** Resolves once what was just drawn is on the screen: what can wait begins behind it. */
export function painted(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
  });
}
