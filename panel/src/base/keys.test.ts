import { describe, expect, it } from "vitest";
import { type Command, commandFor, isKeyOf, keyName } from "./keys.ts";

const typed = (key: string, more: Partial<KeyboardEvent> = {}): string =>
  keyName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more } as KeyboardEvent);
const command = (id: string, ...keys: readonly string[]): Command => ({
  id,
  title: id,
  keys,
  group: "",
  run: () => undefined,
});

describe("keys", () => {
  it("have the names that commands use", () => {
    expect(typed("z")).toBe("z");
    expect(typed("Z", { shiftKey: true })).toBe("Shift+Z");
    expect(typed("k", { metaKey: true })).toBe("Ctrl+k");
    expect(typed("?", { shiftKey: true })).toBe("?");
    expect(typed(" ")).toBe("Space");
    expect(typed("ArrowDown", { shiftKey: true })).toBe("Shift+ArrowDown");
  });

  it("stay with an input that handles them", () => {
    expect(["p", " ", "ArrowDown", "."].map((key) => isKeyOf("checkbox", key))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(["p", " ", "ArrowDown"].map((key) => isKeyOf("radio", key))).toEqual([false, true, true]);
    expect(["[", "ArrowLeft", "Home"].map((key) => isKeyOf("range", key))).toEqual([false, true, true]);
    for (const type of ["text", "search", "select-one", "constructor"]) expect(isKeyOf(type, "p")).toBe(true);
  });

  it("run the innermost command, and wait after the start of a chord", () => {
    const outer = command("outer", "z");
    const inner = command("inner", "z");
    const chord = command("chord", "g s");
    expect(commandFor("z", [outer, inner])).toBe(inner);
    expect(commandFor("g", [outer, chord])).toBe("chord");
    expect(commandFor("g s", [outer, chord])).toBe(chord);
    expect(commandFor("q", [outer, chord])).toBeNull();
  });
});
