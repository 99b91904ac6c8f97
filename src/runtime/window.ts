/** How many frames an agent sees, and how many of them go at once when there are more. */
export type WindowSize = { readonly frames: number; readonly step: number };

export const usualWindow: WindowSize = { frames: 50, step: 25 };

/**
 * How many of the oldest are left out: none, or whole steps. A window that moved with every frame would make
 * every prompt a new one to the provider.
 */
export function leftOut(count: number, { frames, step }: WindowSize): number {
  return count <= frames ? 0 : Math.min(count - 1, Math.ceil((count - frames) / step) * step);
}
