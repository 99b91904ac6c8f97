/** How many frames an agent sees, and how many are dropped at once when there are more. */
export type WindowSize = { readonly frames: number; readonly step: number };

export const defaultWindow: WindowSize = { frames: 50, step: 25 };

/**
 * How many of the oldest frames are dropped: none, or whole steps. A window that moved with every frame would
 * change the prefix of every prompt, and the provider could not read it from its cache.
 */
export function framesToDrop(count: number, { frames, step }: WindowSize): number {
  return count <= frames ? 0 : Math.min(count - 1, Math.ceil((count - frames) / step) * step);
}
