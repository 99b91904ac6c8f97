import { describe, expect, test } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { must } from "../base/index.ts";
import { commandTools } from "../commands/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { NumberDraft, sessionNumbers, streamNumbers } from "./block-numbers.ts";
import {
  type HeadInput,
  headIdOf,
  matchesHead,
  noOwnHead,
  type OwnHead,
  openHead,
  ownHead,
  ownHeadFor,
  type RequestHead,
  withFields,
} from "./request-head.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;
const textBlock = anthropic.write.text;

const tool = (name: string, over: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  input_schema: { type: "object", properties: { path: { type: "string" } } },
  ...over,
});
const later = (name: string) => tool(name, { defer_loading: true });
const mark = { cache_control: { type: "ephemeral" } };
const text = (content: string, over: object = {}) => ({ type: "text", text: content, ...over });

function request(tools: readonly object[], system: unknown = [text("Be brief.")]): WireRequest {
  const body = { model: "m", tools, system, messages: [{ role: "user", content: "a" }] };
  return must(readRequest(Buffer.from(JSON.stringify(body)), null), "the body can be read");
}

const draft = new NumberDraft(streamNumbers(sessionNumbers()), 1);
const numbering = { draft, counter: new TokenCounter(null, 1) };

function headOf(input: Pick<HeadInput, "request" | "ownHead">): RequestHead {
  return { ...openHead({ ...input, ...numbering }), root: 0 };
}

function ownOf(instructions: string | null): OwnHead {
  return { instructions: instructions === null ? null : textBlock(instructions), tools: [] };
}

function opened(tools: readonly object[], instructions: string | null = null): RequestHead {
  return headOf({ request: request(tools), ownHead: ownOf(instructions) });
}

function toolsSent({ toolsField }: RequestHead, tools: readonly object[]): readonly object[] {
  const pieces = toolsField?.pieces;
  return pieces === undefined ? tools : (JSON.parse(Buffer.concat(pieces).toString()) as object[]);
}

/** The tools of each request in turn, as they are sent one after the other. */
function toolsInTurn(first: RequestHead, ...requests: readonly (readonly object[])[]) {
  let head = first;
  return requests.map((tools) => {
    head = withFields(head, request(tools));
    return toolsSent(head, tools);
  });
}

const names = (tools: readonly object[]) => tools.map((one) => (one as { name: string }).name).join(" ");

test("a deferred tool with one of our names needs another head, without ours", () => {
  const own = ownHead(anthropic, "k7f3");
  const head = headOf({ request: request([tool("a")]), ownHead: own });
  const both = request([tool("a"), later("aperture_read")]);
  expect([matchesHead(head, request([tool("a"), later("b")])), matchesHead(head, both)]).toEqual([
    true,
    false,
  ]);
  expect(ownHeadFor(both, own)).toBe(noOwnHead);
  expect(matchesHead(opened([tool("a")]), both)).toBe(true);
});

describe("a request matches a head", () => {
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
    expect(matchesHead(head, request(tools))).toBe(true);
  });

  test.each([
    ["a tool less", [tool("a")]],
    ["a tool more", [tool("a"), tool("b"), tool("c")]],
    ["another description", [tool("a"), tool("b", { description: "Otherwise." })]],
    ["another schema", [tool("a"), tool("b", { input_schema: { type: "object" } })]],
    ["another name", [tool("a"), tool("c")]],
    ["a deferred tool that is no longer", [tool("a"), tool("b"), tool("x")]],
    ["a tool that is deferred now", [tool("a"), later("b")]],
  ])("not with %s", (_, tools) => {
    expect(matchesHead(head, request(tools))).toBe(false);
  });

  test("only with the same system texts in order", () => {
    const two = headOf({ request: request([], [text("one"), text("two")]), ownHead: noOwnHead });
    expect(matchesHead(two, request([], [text("one ", mark), { text: "two", type: "text" }]))).toBe(true);
    expect(matchesHead(two, request([], [text("two"), text("one")]))).toBe(false);
    expect(matchesHead(two, request([], [text("one")]))).toBe(false);
    expect(matchesHead(two, request([], [text("one"), text("Two")]))).toBe(false);
    const bare = headOf({ request: request([], "one"), ownHead: noOwnHead });
    expect(matchesHead(bare, request([], [text("one")]))).toBe(true);
  });
});

describe("tools are sent", () => {
  test("in the order of their first request, deferred ones last", () => {
    const sent = toolsInTurn(
      opened([tool("a"), tool("b"), later("x")]),
      [later("x"), tool("b"), tool("a")],
      [later("y"), tool("a"), later("x"), tool("b")],
      [tool("a"), later("y"), tool("b")],
      [tool("a"), tool("b"), later("x"), later("y")],
    );
    expect(sent.map(names)).toEqual(["a b x", "a b x y", "a b y", "a b x y"]);
  });

  test("in the client's own bytes if the order is the same", () => {
    const head = opened([tool("a"), tool("b")]);
    for (const tools of [
      [tool("a"), tool("b")],
      [tool("a", mark), tool("b"), later("x")],
    ])
      expect(withFields(head, request(tools)).toolsField?.pieces).toBe(undefined);
  });

  test.each([
    ["long names", tool("a".repeat(60)), tool("b".repeat(60))],
    ["no name", { type: "mcp_toolset", mcp_server_name: "x" }, { type: "mcp_toolset", mcp_server_name: "y" }],
  ])("unchanged if they have %s", (_, one, other) => {
    const head = opened([one, tool("m"), other]);
    const given = [one, tool("m"), other];
    expect(matchesHead(head, request([other, tool("m"), one]))).toBe(true);
    expect(toolsInTurn(head, given, [other, tool("m"), one])).toEqual([given, given]);
  });

  test("unchanged after a deferred tool has changed and another has come", () => {
    const changed = { ...later("x"), description: "Another x." };
    const sent = toolsInTurn(
      opened([tool("a"), later("x"), later("y")]),
      [tool("a"), changed, later("y")],
      [tool("a"), later("z"), changed, later("y")],
      [later("x"), tool("a")],
    );
    expect(sent).toEqual([
      [tool("a"), later("y"), changed],
      [tool("a"), later("y"), changed, later("z")],
      [tool("a"), later("x")],
    ]);
  });

  test("with the bytes they had first and the marks they have now", () => {
    const { name, description, input_schema } = tool("b");
    const turned = [tool("a"), { input_schema, description, name, ...mark }];
    const [sent] = toolsInTurn(opened([tool("a"), tool("b")]), turned);
    expect(JSON.stringify(sent)).toBe(JSON.stringify([tool("a"), tool("b", mark)]));
  });

  test("from the same pieces as long as the client's units are the same", () => {
    const wire = request([tool("b"), tool("a")]);
    const first = withFields(opened([tool("a"), tool("b")]), wire);
    expect(withFields(first, wire)).toBe(first);
  });
});

describe("system texts are sent", () => {
  const sent = (head: RequestHead, given: WireRequest): string | undefined => {
    const pieces = withFields(head, given).systemField?.pieces;
    return pieces === undefined ? undefined : Buffer.concat(pieces).toString();
  };

  test("with our instructions after them", () => {
    const head = opened([], "Mind the lines.");
    const wanted = `[${JSON.stringify(text("Be brief.", mark))},${JSON.stringify(text("Mind the lines."))}]`;
    expect(sent(head, request([], [text("Be brief.", mark)]))).toBe(wanted);
    expect(sent(head, request([], "Be brief."))).toBe(wanted.replace(/,"cache_control":\{[^}]*\}/, ""));
  });

  test("unchanged if nothing is added, and else in the form of their first request", () => {
    const head = opened([]);
    expect(sent(head, request([], [text("Be brief.")]))).toBe(undefined);
    expect(sent(head, request([], [text(" Be brief.\n")]))).toBe(JSON.stringify([text("Be brief.")]));
  });

  test.each([[[]], [""], [" \n"]])("as our instructions alone if the client has none: %j", (system) => {
    const head = headOf({ request: request([], system), ownHead: ownOf("Mind the lines.") });
    expect(sent(head, request([], system))).toBe(JSON.stringify([text("Mind the lines.")]));
  });
});

test("our head takes at most 900 tokens and names only existing tools", () => {
  const { instructions, tools } = ownHead(anthropic, "k7f3");
  const json = Buffer.from(instructions ?? []).toString();
  const offered = `[${tools.map((tool) => Buffer.from(tool).toString()).join(",")}]`;
  const tokens = o200k((JSON.parse(json) as { readonly text: string }).text) + o200k(offered);
  expect(tokens).toBeLessThanOrEqual(900);
  const known = ["aperture_", ...commandTools.map(({ name }) => name)];
  for (const name of json.match(/aperture_\w*/g) ?? []) expect(known).toContain(name);
});

test("the units of a head form a path: tools, system texts, instructions", () => {
  const head = opened([tool("a"), later("x"), tool("b")], "Mind the lines.");
  const { units } = head;
  expect(units.map(({ origin, clientIndex }) => `${origin} ${clientIndex}`)).toEqual([
    "client 0",
    "client 2",
    "client 3",
    "aperture null",
  ]);
  expect(units.map(({ parent }) => parent)).toEqual([null, ...units.slice(0, -1).map(({ id }) => id)]);
  expect(headIdOf(head)).toBe(units.at(-1)?.id);
});
