/** Window sizes by model, first match wins: data, because a function cannot cross to another thread. */
export type WindowTable = readonly { readonly pattern: RegExp; readonly tokens: number }[];

/** Null if the window of this model is unknown. */
export function findWindow(windows: WindowTable, model: string | null): number | null {
  return windows.find(({ pattern }) => pattern.test(model ?? ""))?.tokens ?? null;
}
