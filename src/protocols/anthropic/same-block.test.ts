import { describe, expect, test } from "vitest";
import { readText } from "./read-part.ts";
import { isRenamedCall, isSameBlock } from "./same-block.ts";

type Row = readonly [name: string, known: string, copy: string];

const isOwnLine = (line: string): boolean => /^\[(?:CONTEXT MANIFEST )?k7f3 /.test(line);
const same = (role: string, known: string, copy: string): boolean =>
  isSameBlock(Buffer.from(known), Buffer.from(copy), { role, isOwnLine });

const says = (text: string) => `{"type":"text","text":${JSON.stringify(text)}}`;
const result = (content: string, rest = "") =>
  `{"type":"tool_result","tool_use_id":"a","content":${content}${rest}}`;
const call = (input: string, name = "look", id = "a") =>
  `{"type":"tool_use","id":"${id}","name":"${name}","input":${input}}`;
const reasoning = (thinking: string, signature = "s") =>
  `{"type":"thinking","thinking":"${thinking}","signature":"${signature}"}`;

/** Tolerated in every role and in both directions. */
const everywhere: readonly Row[] = [
  ["the same bytes", says("a"), says("a")],
  ["keys in another order", says("a"), '{"text":"a","type":"text"}'],
  ["whitespace between members", says("a"), '{ "type" : "text",\n "text" : "a" }'],
  ["a cache mark", says("a"), '{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}'],
  ["outer whitespace", says("a"), says("\n a \t")],
  ["another escape of one letter", says("é"), '{"type":"text","text":"\\u00e9"}'],
  ["a number written otherwise", '{"type":"x","n":1.0}', '{"type":"x","n":1}'],
];

const ofUser: readonly Row[] = [
  ["a string or a text block", result('"a"'), result('[{"type":"text","text":"a"}]')],
  [
    "a mark inside",
    result('[{"type":"text","text":"a"}]'),
    result('[{"type":"text","text":"a","cache_control":{}}]'),
  ],
  ["whitespace around an inner text", result('"a"'), result('[{"type":"text","text":" a\\n"}]')],
];

describe.each(["user", "assistant", "system"])("in a message of role %s", (role) => {
  test.each(everywhere)("%s is tolerated both ways", (_, known, copy) => {
    expect([same(role, known, copy), same(role, copy, known)]).toEqual([true, true]);
  });
});

test.each(ofUser)("in a tool result, %s is tolerated both ways", (_, known, copy) => {
  expect([same("user", known, copy), same("user", copy, known)]).toEqual([true, true]);
});

/** Liberties with units of the model. */
const ofModel: readonly Row[] = [
  ["a default added", call('{"a":1}'), call('{"a":1,"b":2}')],
  ["a default added deep inside", call('{"a":{"b":1}}'), call('{"a":{"c":2,"b":1}}')],
  ["a tool renamed to invalid", call('{"a":1}'), call('{"error":"?"}', "invalid")],
  ["reasoning emptied", reasoning("hm"), reasoning("")],
];
const ofModelBothWays: readonly Row[] = [
  ["a line of ours stripped", says("[k7f3 turn 1]\nyes"), says("yes")],
  ["our lines stripped in between", says("a\n[k7f3 x]\nb"), says("a\nb")],
  [
    "a manifest stripped with its rows",
    says("a\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\n- COLD 2\nb"),
    says("a\nb"),
  ],
  [
    "a manifest stripped without its rows",
    says("a\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\nb"),
    says("a\nPRIMACY 3\nb"),
  ],
];

test.each(ofModel)(
  "in a unit of the model, %s is tolerated, but its reverse is an edit",
  (_, known, copy) => {
    expect([same("assistant", known, copy), same("assistant", copy, known)]).toEqual([true, false]);
  },
);

test.each(ofModelBothWays)("in a unit of the model, %s is tolerated both ways", (_, known, copy) => {
  expect([same("assistant", known, copy), same("assistant", copy, known)]).toEqual([true, true]);
});

test.each([...ofModel, ...ofModelBothWays])("in a unit of another role, %s is an edit", (_, known, copy) => {
  expect([same("user", known, copy), same("user", copy, known)]).toEqual([false, false]);
});

/** These differences are never tolerated. */
const edits: readonly Row[] = [
  ["another text", says("a"), says("b")],
  ["whitespace inside", says("a b"), says("a  b")],
  ["another letter case", says("a"), says("A")],
  ["a row that belongs to no line of ours left out", says("PRIMACY 3\nb"), says("b")],
  ["another type", says("a"), '{"type":"note","text":"a"}'],
  ["a field more", says("a"), '{"type":"text","text":"a","citations":[]}'],
  ["a field less", '{"type":"text","text":"a","citations":[]}', says("a")],
  ["another result", result('"a"'), result('"b"')],
  [
    "a part more in a result",
    result('"a"'),
    result('[{"type":"text","text":"a"},{"type":"text","text":"b"}]'),
  ],
  ["a failure", result('"a"', ',"is_error":false'), result('"a"', ',"is_error":true')],
  ["another value", call('{"a":1}'), call('{"a":2}')],
  ["a list that grew", call('{"a":[1]}'), call('{"a":[1,2]}')],
  ["a key less", call('{"a":1,"b":2}'), call('{"a":1}')],
  ["another tool", call("{}"), call("{}", "read")],
  ["another call", call("{}"), call("{}", "look", "b")],
  ["a renamed call of another id", call("{}"), call("{}", "invalid", "b")],
  ["other reasoning", reasoning("hm"), reasoning("oh")],
  ["another signature", reasoning("hm"), reasoning("hm", "t")],
  [
    "a number beyond what can be held",
    '{"type":"x","n":12345678901234567890}',
    '{"type":"x","n":12345678901234567891}',
  ],
  ["a number too large", '{"type":"x","n":1e999}', '{"type":"x","n":1e998}'],
  ["what is no object", '"a"', '"a"'],
  ["what is no JSON", "{", "{"],
];

test.each(edits)("%s is an edit in every role", (_, known, copy) => {
  for (const role of ["user", "assistant"]) expect(same(role, known, copy)).toBe(false);
});

test("digits inside a text are no number", () => {
  expect(same("user", says("call 12345678901234567890"), says(" call 12345678901234567890"))).toBe(true);
  expect(same("user", says('\\" 12345678901234567890'), says('\\" 12345678901234567891'))).toBe(false);
});

test("renamed calls and texts are recognised by their bytes", () => {
  expect(isRenamedCall(Buffer.from(call("{}", "invalid")))).toBe(true);
  expect(isRenamedCall(Buffer.from(call('{"name":"invalid"}')))).toBe(false);
  expect([readText(Buffer.from(says("a"))), readText(Buffer.from(call("{}")))]).toEqual(["a", null]);
});

test.each(["constructor", "toString", "__proto__"])("a missing value named %s is an edit", (name) => {
  expect(same("assistant", call(`{"${name}":{},"b":1}`), call('{"b":1}'))).toBe(false);
  expect(same("assistant", call(`{"${name}":{},"b":1}`), call(`{"b":1,"${name}":{}}`))).toBe(true);
});

test("a text too long to search for numbers does not fail", () => {
  const long = `1234567890123456789${'a"'.repeat(4 * 1024 * 1024)}`;
  expect(same("user", says(long), says(` ${long}`))).toBe(false);
});
