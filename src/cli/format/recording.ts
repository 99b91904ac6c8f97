import type { RecordingHealth } from "../../control/index.ts";

export function recordingText({ on, missed }: RecordingHealth): string {
  const gaps = missed === 0 ? "nothing missed" : `${missed} relayed but not recorded`;
  return `${on ? "on" : "paused; requests still pass"}, ${gaps}`;
}
