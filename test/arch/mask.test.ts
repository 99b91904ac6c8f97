import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mask } from "./mask.ts";

/** Keeps what is left of the code, without the blanks. */
function codeOf(source: string): string {
  return mask(source).code.replace(/\s+/g, "");
}

describe("what is not code disappears", () => {
  test.each([
    ["line comment", "a(); // bad", "a();"],
    ["block comment", "a(/* bad */ 1)", "a(1)"],
    ["comment marks inside a string", 'a("// bad"); b()', 'a("");b()'],
    ["escaped quote", 'a("x\\"bad"); b()', 'a("");b()'],
    ["single quotes", "a('bad')", "a('')"],
    ["template", "a(`bad`)", "a(``)"],
    ["template with a substitution", `a(\`bad \${good} bad\`)`, "a(`good`)"],
    ["nested template", `a(\`bad \${f({ x: \`bad \${y}\` })} bad\`); z()`, "a(`f({x:`y`})`);z()"],
    ["regular expression", "a = /bad['\"`]/g; b()", "a=//g;b()"],
    ["slash inside a class", "a = /[/]bad/; b()", "a=//;b()"],
    ["regular expression after return", "return /bad/.test(x)", "return//.test(x)"],
    ["division", "a = b / c / d;", "a=b/c/d;"],
    ["division after a call", "a = f() / 2; // bad", "a=f()/2;"],
    ["division after an index", "a = b[0] / 2; c('bad')", "a=b[0]/2;c('')"],
    ["unclosed string ends with its line", 'a = "bad\nb()', 'a="b()'],
    ["unclosed comment ends with the file", "a(); /* bad", "a();"],
  ])("%s", (_name, source, expected) => {
    expect(codeOf(source)).toBe(expected);
  });
});

test("comments can be read alone", () => {
  expect(mask('a("no") // yes\n/* and */').comments.replace(/\s+/g, " ").trim()).toBe("// yes /* and */");
});

test("any text keeps its length and its lines, and takes linear time", () => {
  const pieces = fc.constantFrom(
    "`",
    "${",
    "}",
    "{",
    "/",
    "*",
    '"',
    "'",
    "\\",
    "\n",
    "a",
    " ",
    "//",
    "/*",
    "*/",
    "[",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const source = parts.join("");
      const { code, comments } = mask(source);
      expect(code).toHaveLength(source.length);
      expect(comments).toHaveLength(source.length);
      expect(code.split("\n")).toHaveLength(source.split("\n").length);
    }),
  );
  const long = "a / b; `x${'y'}`; // z\n".repeat(20_000);
  expect(mask(long).code).toHaveLength(long.length);
});
