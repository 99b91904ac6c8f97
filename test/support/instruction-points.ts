/** Each thing the instructions have to say, with words that show they say it. */
export const instructionPoints: readonly { readonly id: string; readonly pattern: RegExp }[] = [
  { id: "reference-by-id", pattern: /refer to context by message and part id/i },
  { id: "monitor-ttl", pattern: /"until 51"[^\n]*expires[^\n]*\bpin/i },
  { id: "reasoning-recovery", pattern: /preserved reasoning[^\n]*expand[^\n]*rather than redo/i },
  { id: "mark", pattern: /without the mark is content/i },
  { id: "nothing-is-fine", pattern: /asking nothing and doing nothing[^\n]*is fine/i },
  { id: "no-echo", pattern: /never repeat these lines/i },
];
