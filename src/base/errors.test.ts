import { describe, expect, it } from "vitest";
import { apertureError, type ErrorCode, type ErrorDetails, errorRegistry } from "./errors.ts";

const errorCodes = Object.keys(errorRegistry) as readonly ErrorCode[];

const placeholders = (template: string) =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);

describe("the registry of errors", () => {
  it.each(errorCodes)("%s has a prefixed code and one or more whole sentences", (code) => {
    const template = errorRegistry[code];
    expect(code).toMatch(/^AP(_[A-Z]+)+$/);
    expect(template).toMatch(/^[A-Z#{].*\.$/);
    expect(template).not.toMatch(/\s{2}|\n|\.\.$/);
    // Every brace belongs to a placeholder.
    expect(template.replace(/\{\w+\}/g, "")).not.toMatch(/[{}]/);
  });

  it("lists every code once", () => {
    expect(errorCodes).toEqual(Object.keys(errorRegistry));
    expect(new Set(Object.values(errorRegistry)).size).toBe(errorCodes.length);
  });
});

describe("apertureError", () => {
  it.each(errorCodes)("%s fills every placeholder from the details", (code) => {
    const names = placeholders(errorRegistry[code]);
    const details: ErrorDetails = Object.fromEntries(names.map((name, index) => [name, `<${index}>`]));
    const { message } = apertureError(code, details);
    expect(message).not.toMatch(/[{}]|\?/);
    names.forEach((_, index) => {
      expect(message).toContain(`<${index}>`);
    });
  });

  const sentence = (seq: string, head: string) =>
    errorRegistry.AP_SEQ_UNKNOWN.replace("{seq}", seq).replace("{head}", head);

  it("carries its code and details, for programs", () => {
    const details = { seq: 9, head: 4 };
    const error = apertureError("AP_SEQ_UNKNOWN", details);
    expect(error).toEqual({ code: "AP_SEQ_UNKNOWN", message: sentence("9", "4"), details });
  });

  it("fills in zero and false, which are values", () => {
    expect(apertureError("AP_SEQ_UNKNOWN", { seq: 0, head: false }).message).toBe(sentence("0", "false"));
  });

  it("shows a question mark where a detail is missing, never the raw placeholder", () => {
    expect(apertureError("AP_STREAM_UNKNOWN").message).toBe("There is no stream ?.");
    expect(apertureError("AP_STREAM_UNKNOWN", { stream: null }).message).toBe("There is no stream ?.");
  });

  it("inserts a detail unchanged, even if it looks like a placeholder or a pattern", () => {
    const message = apertureError("AP_FRAME_SHAPE", { problem: "{seq} $& $1" }).message;
    expect(message).toBe("This is not a frame: {seq} $& $1.");
  });
});
