import type { HealthAnswer } from "../../control/index.ts";
import { timeText } from "./time-text.ts";

export function recordingText({ recording, time }: Pick<HealthAnswer, "recording" | "time">): string {
  const { on, missed, since } = recording;
  const from = since === null ? "" : ` since ${timeText(since, time)}`;
  const gaps = missed === 0 ? "nothing missed" : `${missed} requests relayed but not recorded`;
  return `${on ? "on" : `paused${from}; requests still pass`}, ${gaps}`;
}
