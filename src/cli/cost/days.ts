import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";

/** A span in milliseconds since 1970, without its end. Days are those of the user's time zone. */
export type TimeSpan = { readonly fromMs: number; readonly toMs: number };

type DayOptions = { readonly since: string | undefined; readonly until: string | undefined };

export function readDays({ since, until }: DayOptions, nowMs: number): CliResult<TimeSpan> {
  const from = since === undefined ? new Date(0) : parseDay(since, nowMs);
  const last = until === undefined ? null : parseDay(until, nowMs);
  if (from === undefined) return stop(exitCodes.usage, notADayText("since", since ?? ""));
  if (last === undefined) return stop(exitCodes.usage, notADayText("until", until ?? ""));
  const toMs = last === null ? Number.POSITIVE_INFINITY : nextDay(last).getTime();
  return succeed({ fromMs: from.getTime(), toMs });
}

export function dayOf(timeMs: number): string {
  const date = new Date(timeMs);
  const two = (value: number) => `${value}`.padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function parseDay(text: string, nowMs: number): Date | undefined {
  const now = new Date(nowMs);
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (text === "today") return today;
  if (text === "yesterday") return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(Number(year), Number(month) - 1, Number(day));
  // Date would silently turn 31 June into 1 July.
  return dayOf(date.getTime()) === `${year}-${month}-${day}` ? date : undefined;
}

function nextDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1);
}

function notADayText(flag: string, text: string): string {
  return `--${flag} must be a day such as 2026-11-17, today or yesterday, not "${printable(text, 40)}".`;
}
