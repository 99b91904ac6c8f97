import { printable } from "../format/printable.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";

/** From and to, in milliseconds since 1970; the end is not part of it. Days are those of the reader. */
export type Span = { readonly fromMs: number; readonly toMs: number };

type Written = { readonly since: string | undefined; readonly until: string | undefined };

export function readDays({ since, until }: Written, nowMs: number): Outcome<Span> {
  const from = since === undefined ? new Date(0) : dayIn(since, nowMs);
  const last = until === undefined ? null : dayIn(until, nowMs);
  if (from === undefined) return stop(exitCodes.usage, noDay("since", since ?? ""));
  if (last === undefined) return stop(exitCodes.usage, noDay("until", until ?? ""));
  const toMs = last === null ? Number.POSITIVE_INFINITY : nextDay(last).getTime();
  return succeed({ fromMs: from.getTime(), toMs });
}

export function dayOf(timeMs: number): string {
  const date = new Date(timeMs);
  const two = (value: number) => `${value}`.padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function dayIn(text: string, nowMs: number): Date | undefined {
  const now = new Date(nowMs);
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (text === "today") return today;
  if (text === "yesterday") return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(Number(year), Number(month) - 1, Number(day));
  // What is no day, such as the 31st of June, would silently be another one.
  return dayOf(date.getTime()) === `${year}-${month}-${day}` ? date : undefined;
}

function nextDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1);
}

function noDay(flag: string, text: string): string {
  return `--${flag} is a day such as 2026-11-17, today or yesterday, not "${printable(text, 40)}".`;
}
