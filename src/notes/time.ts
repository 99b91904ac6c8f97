const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

type Day = { readonly year: number; readonly month: number; readonly day: number };

/** Writes a time: `2026-11-15T19:05:11Z`. */
export function utcTime(timeMs: number): string {
  const seconds = Math.floor(sinceMidnight(timeMs) / 1_000) % 60;
  return `${dateText(timeMs)}T${clockTime(timeMs)}:${two(seconds)}Z`;
}

export function dateText(timeMs: number): string {
  const { year, month, day } = dayOf(Math.floor(timeMs / dayMs));
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

/** Hours and minutes. */
export function clockTime(timeMs: number): string {
  const minutes = Math.floor(sinceMidnight(timeMs) / minuteMs);
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function sinceMidnight(timeMs: number): number {
  return timeMs - Math.floor(timeMs / dayMs) * dayMs;
}

/** `UTC`, `UTC+1`, `UTC-3:30`. */
export function zoneText(zoneMinutes: number): string {
  if (zoneMinutes === 0) return "UTC";
  const size = Math.abs(zoneMinutes);
  const minutes = size % 60 === 0 ? "" : `:${two(size % 60)}`;
  return `UTC${zoneMinutes < 0 ? "-" : "+"}${Math.floor(size / 60)}${minutes}`;
}

/** Writes a pause: `+6m`, `+2h10m`, `+3d4h`. Null up to five minutes, which are normal between turns. */
export function pauseText(sinceMs: number | null): string | null {
  if (sinceMs === null || sinceMs <= 5 * minuteMs) return null;
  const minutes = Math.floor(sinceMs / minuteMs);
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return `+${minutes}m`;
  if (hours < 24) return `+${hours}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
  return `+${Math.floor(hours / 24)}d${hours % 24 === 0 ? "" : `${hours % 24}h`}`;
}

/**
 * The day of the calendar, so many days after 1970-01-01. Counted by eras of 400 years that begin in March,
 * so that the leap day is the last of its year.
 */
function dayOf(days: number): Day {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
