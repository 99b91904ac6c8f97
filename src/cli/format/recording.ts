import type { HealthAnswer } from "../../control/index.ts";
import { timeText } from "./times.ts";

export function recordingText({ recording, time }: Pick<HealthAnswer, "recording" | "time">): string {
  const { on, missed, since } = recording;
  const from = since === null ? "" : ` since ${timeText(since, time)}`;
  const gaps = missed === 0 ? "nothing missed" : `${missed} relayed but not recorded`;
  return `${on ? "on" : `paused${from}; requests still pass`}, ${gaps}`;
}
