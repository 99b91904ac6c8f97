/** Window sizes by model, first match wins: data, because a function cannot cross to another thread. */
export type WindowTable = readonly { readonly pattern: RegExp; readonly tokens: number }[];

const usualTokens = 200_000;

export function windowIn(windows: WindowTable, model: string | null): number {
  return windows.find(({ pattern }) => pattern.test(model ?? ""))?.tokens ?? usualTokens;
}
