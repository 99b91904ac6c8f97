import { describe, expect, test } from "vitest";
import { o200k } from "../../../test/support/o200k.ts";
import { must } from "../../base/index.ts";
import { commandTools } from "../../commands/index.ts";
import { ingestRequest, textBlock, type WireRequest } from "../../protocols/index.ts";
import { TokenGauge } from "../unit-tokens.ts";
import {
  emitSystem,
  emitTools,
  type Head,
  hasHead,
  nothingOwn,
  type OwnHead,
  openHead,
  ownFor,
  ownHead,
} from "./head.ts";
import { SessionNumbers, StreamNumbers } from "./numbers.ts";

const tool = (name: string, over: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  input_schema: { type: "object", properties: { path: { type: "string" } } },
  ...over,
});
const later = (name: string) => tool(name, { defer_loading: true });
const mark = { cache_control: { type: "ephemeral" } };
const text = (words: string, over: object = {}) => ({ type: "text", text: words, ...over });

function request(tools: readonly object[], system: unknown = [text("Be brief.")]): WireRequest {
  const body = { model: "m", tools, system, messages: [{ role: "user", content: "a" }] };
  return must(ingestRequest(Buffer.from(JSON.stringify(body)), null), "the body can be read");
}

const draft = new StreamNumbers(new SessionNumbers()).draft(1);
const counting = { draft, gauge: new TokenGauge(null, 1) };

function ownOf(instructions: string | null): OwnHead {
  return { instructions: instructions === null ? null : textBlock(instructions), tools: [] };
}

function opened(tools: readonly object[], instructions: string | null = null): Head {
  return openHead({ request: request(tools), own: ownOf(instructions), ...counting });
}

function toolsSent(head: Head, tools: readonly object[]): readonly object[] {
  const pieces = emitTools(head, request(tools));
  return pieces === undefined ? tools : (JSON.parse(Buffer.concat(pieces).toString()) as object[]);
}

const names = (tools: readonly object[]) => tools.map((one) => (one as { name: string }).name).join(" ");

test("a tool of our name that comes later, deferred, has another head, without ours", () => {
  const own = ownHead("k7f3");
  const head = openHead({ request: request([tool("a")]), own, ...counting });
  const both = request([tool("a"), later("aperture_read")]);
  expect([hasHead(head, request([tool("a"), later("b")])), hasHead(head, both)]).toEqual([true, false]);
  expect(ownFor(both, own)).toBe(nothingOwn);
  expect(hasHead(opened([tool("a")]), both)).toBe(true);
});

describe("a request has a head", () => {
  const head = opened([tool("a"), tool("b"), later("x")]);
  const turned = {
    input_schema: { properties: { path: { type: "string" } }, type: "object" },
    description: "The tool b.",
    name: "b",
  };

  test.each([
    ["the same tools", [tool("a"), tool("b"), later("x")]],
    ["in another order", [later("x"), tool("b"), tool("a")]],
    ["with marks", [tool("a", mark), tool("b"), later("x")]],
    ["keys in another order", [tool("a"), turned]],
    ["another deferred tool", [tool("a"), later("y"), tool("b")]],
    ["no deferred tool", [tool("a"), tool("b")]],
  ])("%s", (_, tools) => {
    expect(hasHead(head, request(tools))).toBe(true);
  });

  test.each([
    ["a tool less", [tool("a")]],
    ["a tool more", [tool("a"), tool("b"), tool("c")]],
    ["another description", [tool("a"), tool("b", { description: "Otherwise." })]],
    ["another schema", [tool("a"), tool("b", { input_schema: { type: "object" } })]],
    ["another name", [tool("a"), tool("c")]],
    ["a deferred tool that is no longer", [tool("a"), tool("b"), tool("x")]],
    ["a tool that is deferred now", [tool("a"), later("b")]],
  ])("or not: %s", (_, tools) => {
    expect(hasHead(head, request(tools))).toBe(false);
  });

  test("by its system texts, in their order", () => {
    const two = openHead({
      request: request([], [text("one"), text("two")]),
      own: nothingOwn,
      ...counting,
    });
    expect(hasHead(two, request([], [text("one ", mark), { text: "two", type: "text" }]))).toBe(true);
    expect(hasHead(two, request([], [text("two"), text("one")]))).toBe(false);
    expect(hasHead(two, request([], [text("one")]))).toBe(false);
    expect(hasHead(two, request([], [text("one"), text("Two")]))).toBe(false);
    const bare = openHead({ request: request([], "one"), own: nothingOwn, ...counting });
    expect(hasHead(bare, request([], [text("one")]))).toBe(true);
  });
});

describe("tools are sent", () => {
  test("in the order in which they came first, deferred ones behind", () => {
    const head = opened([tool("a"), tool("b"), later("x")]);
    expect(names(toolsSent(head, [later("x"), tool("b"), tool("a")]))).toBe("a b x");
    expect(names(toolsSent(head, [later("y"), tool("a"), later("x"), tool("b")]))).toBe("a b x y");
    expect(names(toolsSent(head, [tool("a"), later("y"), tool("b")]))).toBe("a b y");
    expect(names(toolsSent(head, [tool("a"), tool("b"), later("x"), later("y")]))).toBe("a b x y");
  });

  test("as the client has them where that is the order, without a copy", () => {
    const head = opened([tool("a"), tool("b")]);
    expect(emitTools(head, request([tool("a"), tool("b")]))).toBe(undefined);
    expect(emitTools(head, request([tool("a", mark), tool("b"), later("x")]))).toBe(undefined);
  });

  test.each([
    ["long names", tool("a".repeat(60)), tool("b".repeat(60))],
    ["no name", { type: "mcp_toolset", mcp_server_name: "x" }, { type: "mcp_toolset", mcp_server_name: "y" }],
  ])("each as itself, though they have %s", (_, one, other) => {
    const head = opened([one, tool("m"), other]);
    expect(toolsSent(head, [one, tool("m"), other])).toEqual([one, tool("m"), other]);
    expect(hasHead(head, request([other, tool("m"), one]))).toBe(true);
    expect(toolsSent(head, [other, tool("m"), one])).toEqual([one, tool("m"), other]);
  });

  test("each as itself, after a deferred one has changed and another has come", () => {
    const head = opened([tool("a"), later("x"), later("y")]);
    const changed = { ...later("x"), description: "Another x." };
    expect(toolsSent(head, [tool("a"), changed, later("y")])).toEqual([tool("a"), later("y"), changed]);
    const sent = toolsSent(head, [tool("a"), later("z"), changed, later("y")]);
    expect(sent).toEqual([tool("a"), later("y"), changed, later("z")]);
    expect(toolsSent(head, [later("x"), tool("a")])).toEqual([tool("a"), later("x")]);
  });

  test("with the bytes they had first and the marks they have now", () => {
    const head = opened([tool("a"), tool("b")]);
    const { name, description, input_schema } = tool("b");
    const sent = toolsSent(head, [tool("a"), { input_schema, description, name, ...mark }]);
    expect(JSON.stringify(sent)).toBe(JSON.stringify([tool("a"), tool("b", mark)]));
  });
});

describe("system texts are sent", () => {
  const sent = (head: Head, given: WireRequest): string | undefined => {
    const pieces = emitSystem(head, given);
    return pieces === undefined ? undefined : Buffer.concat(pieces).toString();
  };

  test("with our instructions behind them", () => {
    const head = opened([], "Mind the lines.");
    const wanted = `[${JSON.stringify(text("Be brief.", mark))},${JSON.stringify(text("Mind the lines."))}]`;
    expect(sent(head, request([], [text("Be brief.", mark)]))).toBe(wanted);
    expect(sent(head, request([], "Be brief."))).toBe(wanted.replace(/,"cache_control":\{[^}]*\}/, ""));
  });

  test("as they are where nothing is added, and in their first form where they are written otherwise", () => {
    const head = opened([]);
    expect(sent(head, request([], [text("Be brief.")]))).toBe(undefined);
    expect(sent(head, request([], [text(" Be brief.\n")]))).toBe(JSON.stringify([text("Be brief.")]));
  });

  test.each([[[]], [""], [" \n"]])("where the client says nothing, ours stand alone: %j", (system) => {
    const head = openHead({ request: request([], system), own: ownOf("Mind the lines."), ...counting });
    expect(sent(head, request([], system))).toBe(JSON.stringify([text("Mind the lines.")]));
  });
});

test("what is ours in front takes at most 900 tokens, and names no tool that there is not", () => {
  const { instructions, tools } = ownHead("k7f3");
  const said = Buffer.from(instructions ?? []).toString();
  const offered = `[${tools.map((tool) => Buffer.from(tool).toString()).join(",")}]`;
  const tokens = o200k((JSON.parse(said) as { readonly text: string }).text) + o200k(offered);
  expect(tokens).toBeLessThanOrEqual(900);
  const known = ["aperture_", ...commandTools.map(({ name }) => name)];
  for (const name of said.match(/aperture_\w*/g) ?? []) expect(known).toContain(name);
});

test("the log is told of tools, system texts and instructions in their order, each below the one before", () => {
  const { units: fresh, root } = opened([tool("a"), later("x"), tool("b")], "Mind the lines.");
  expect(fresh.map(({ origin, unit }) => `${origin} ${unit}`)).toEqual([
    "client 0",
    "client 2",
    "client 3",
    "aperture null",
  ]);
  expect(fresh.map(({ parent }) => parent)).toEqual([null, ...fresh.slice(0, -1).map(({ id }) => id)]);
  expect(root.sent?.id).toBe(fresh.at(-1)?.id);
});
