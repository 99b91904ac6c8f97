const completeStops: readonly string[] = ["end_turn", "tool_use", "pause_turn"];

/** True if the model ended its answer itself. In any other answer a call may be incomplete. */
export function isCompleteStop(stop: string): boolean {
  return completeStops.includes(stop);
}
