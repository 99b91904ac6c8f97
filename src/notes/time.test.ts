import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clockTime, dateText, pauseText, utcTime, zoneText } from "./time.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("time, written out", () => {
  it("is what the calendar of the machine says, in any year", () => {
    const years = { min: new Date("0001-01-01"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(years), (date) => {
        const expected = `${date.toISOString().slice(0, 19)}Z`;
        expect(utcTime(Math.floor(date.getTime() / 1_000) * 1_000)).toBe(expected);
        expect(dateText(date.getTime())).toBe(expected.slice(0, 10));
        expect(clockTime(date.getTime())).toBe(expected.slice(11, 16));
      }),
    );
  });

  it.each([
    [0, "UTC"],
    [60, "UTC+1"],
    [-210, "UTC-3:30"],
    [345, "UTC+5:45"],
  ])("names the zone %d minutes east", (minutes, text) => {
    expect(zoneText(minutes)).toBe(text);
  });

  it.each([
    [null, null],
    [0, null],
    [5 * minute, null],
    [5 * minute + 1, "+5m"],
    [6 * minute, "+6m"],
    [59 * minute + 59_000, "+59m"],
    [2 * hour, "+2h"],
    [2 * hour + 10 * minute, "+2h10m"],
    [24 * hour, "+1d"],
    [76 * hour + 30 * minute, "+3d4h"],
  ])("a pause of %s ms is %s", (sinceMs, text) => {
    expect(pauseText(sinceMs)).toBe(text);
  });
});
