const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000];

/** The age in the largest unit that fits. A time in the future, because two clocks differ, counts as now. */
export function ageText(ms: number): string {
  if (ms < 2 * secondMs) return "now";
  if (ms < minuteMs) return `${Math.floor(ms / secondMs)} s ago`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min ago`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h ago`;
  return `${Math.floor(ms / dayMs)} d ago`;
}

export function durationText(ms: number): string {
  if (ms < secondMs) return `${Math.round(ms)} ms`;
  if (ms < minuteMs) return `${(ms / secondMs).toFixed(1)} s`;
  return `${Math.floor(ms / minuteMs)} min ${Math.floor((ms % minuteMs) / secondMs)} s`;
}

/** The rest of a short time: 3:12. */
export function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${twoDigits(seconds % 60)}`;
}

/** The local time of day, with its date if that is another day. */
export function timeText(time: number, nowMs: number): string {
  const [date, today] = [new Date(time), new Date(nowMs)];
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
  return date.toDateString() === today.toDateString() ? clock : `${dayText(date)} ${clock}`;
}

function dayText(date: Date): string {
  return [`${date.getFullYear()}`, twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join("-");
}

function twoDigits(value: number): string {
  return `${value}`.padStart(2, "0");
}
