import fc from "fast-check";

/** Long runs of one kind, which a counter must handle in linear time. */
export const longRuns: readonly (readonly [name: string, unit: string])[] = [
  ["Chinese", "我们在昨天的会议上讨论了新的项目计划大家认为应该先完成数据库的迁移"],
  ["one letter", "a"],
  ["blanks", " "],
  ["line breaks", "\n"],
  ["indented nothing", " \n\t"],
  ["dashes", "-"],
  ["digits", "1234567890"],
  ["base64", "aGVsbG8gd29ybGQ+Zm9v/YmFyQmF6UXV4MTIz"],
  ["paths", "a/b/"],
  ["emoji", "👩‍💻"],
  ["half a pair", "\ud83d"],
];

export function filled(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/** Prose, code, noise and every script, in any mixture. */
export const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.constantFrom(
        "the ",
        "const value = ",
        "\n\n    ",
        "getUserName",
        "12345.67",
        "東京",
        "────",
        "=> {",
      ),
      fc.tuple(fc.constantFrom(...longRuns), fc.nat(300)).map(([[, unit], length]) => filled(unit, length)),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

export const models = [
  "claude-opus-4-5",
  "claude-opus-4-8",
  "gpt-5.4",
  "gemini-2.5-flash",
  "other",
  null,
] as const;
