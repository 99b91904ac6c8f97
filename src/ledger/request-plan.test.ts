import { describe, expect, test } from "vitest";
import { must } from "../base/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { alignRequest, freshUnits, type RequestAlignment } from "./align-request.ts";
import { SessionNumbers, StreamNumbers } from "./block-numbers.ts";
import type { LedgerNode } from "./node.ts";
import { ownTextUnit, type PlannedUnit, writeUnits } from "./planned-units.ts";
import { previewPlan } from "./render-body.ts";
import { noOwnHead, openHead } from "./request-head.ts";
import { nodesAfter, type RenderInput } from "./request-plan.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

const mark = { cache_control: { type: "ephemeral" } };
const text = (content: string, over: object = {}) => ({ type: "text", text: content, ...over });
const user = (...content: readonly object[]) => ({ role: "user", content });
const model = (...content: readonly object[]) => ({ role: "assistant", content });

function read(...messages: readonly object[]): WireRequest {
  const body = { model: "claude-opus-4-8", max_tokens: 9, messages };
  return must(readRequest(Buffer.from(JSON.stringify(body)), null), "it can be read");
}

const draft = new StreamNumbers(new SessionNumbers()).draft(1);
const headOf = (request: WireRequest) =>
  openHead({ request, ownHead: noOwnHead, draft, counter: new TokenCounter(null, 1) });

function align(root: LedgerNode, request: WireRequest): RequestAlignment {
  const rules = {
    bytes: request.bytes,
    mayPassOwn: true,
    mayPassReworded: () => true,
    mayPassSystem: true,
    dropsForeignReasoning: false,
    trustsReasoning: false,
    isOwnLine: () => false,
    model: null,
  };
  return alignRequest(root, request, { before: null, rules });
}

function countInput(request: WireRequest): RenderInput {
  return { request, style: "managed", purpose: "count" } as unknown as RenderInput; // a preview needs no more
}

/** Previews a request with these units below a new head. */
function preview(
  request: WireRequest,
  over: { readonly units?: readonly PlannedUnit[]; readonly droppedTail?: string } = {},
) {
  const head = headOf(request);
  const alignment = align(head.root, request);
  const { units = freshUnits(alignment), droppedTail = null } = over;
  const plan = { input: countInput(request), head, alignment, from: head.root, units, droppedTail };
  const result = previewPlan(plan);
  return { ...result, head, body: JSON.parse(Buffer.concat(result.pieces).toString()) };
}

describe("a preview", () => {
  test("has the bytes of the next turn and does not change the ledger", () => {
    const messages = [user(text("a")), model(text("b")), user(text("c"))];
    const { body, report, leaf, head, hasHeader } = preview(read(...messages));
    expect(body).toEqual({ model: "claude-opus-4-8", max_tokens: 9, messages });
    expect(report).toEqual({ leaf: "", fresh: [], aliases: [], isTurn: false, epoch: null });
    expect([leaf, head.root.children, hasHeader]).toEqual([head.root, [], false]);
  });

  test("has the client's marks on its units", () => {
    const messages = [user(text("a"), text("b", mark)), model(text("c")), user(text("d", mark))];
    expect(preview(read(...messages)).body.messages).toEqual(messages);
  });

  test("has them on units that were sent before as well", () => {
    const [first, rest] = [user(text("a"), text("b", mark)), [model(text("c")), user(text("d", mark))]];
    const before = read(first);
    const head = headOf(before);
    const { nodes } = writeUnits(head.root, freshUnits(align(head.root, before)), null);
    const request = read(first, ...rest);
    const alignment = align(head.root, request);
    const from = must(nodes.at(-1), "it was written");
    const units = freshUnits(alignment);
    const { pieces } = previewPlan({
      input: countInput(request),
      head,
      alignment,
      from,
      units,
      droppedTail: null,
    });
    expect(JSON.parse(Buffer.concat(pieces).toString()).messages).toEqual([first, ...rest]);
  });

  test("ends with the dropped tail", () => {
    const { body } = preview(read(user(text("a"))), { droppedTail: "[k7f3 tail]" });
    expect(body.messages).toEqual([user(text("a"), text("[k7f3 tail]"))]);
  });

  test("tells whether it contains a self-clearing message", () => {
    const request = read(user(text("a")));
    expect(preview(request).hasSelfClearing).toBe(false);
    const wrapping = anthropic.write.systemMessage(true);
    const clearing = ownTextUnit(anthropic, "[k7f3 tail]", { wrapping, opensMessage: true });
    const units = [...freshUnits(align(headOf(request).root, request)), clearing];
    expect(preview(request, { units }).hasSelfClearing).toBe(true);
  });
});

describe("the node of a unit after a request", () => {
  test("is the one it was written to, our units not counted", () => {
    const request = read(user(text("a")), model(text("b")), user(text("c")));
    const { root } = headOf(request);
    const alignment = align(root, request);
    const fresh = freshUnits(alignment);
    const wrapping = must(fresh[0], "there is one").wrapping;
    const units = [
      ...fresh.slice(0, 1),
      ownTextUnit(anthropic, "[k7f3 line]", { wrapping, opensMessage: false }),
      ...fresh.slice(1),
    ];
    const { nodes } = writeUnits(root, units, null);
    expect(nodesAfter(alignment, units, nodes).map((node) => nodes.indexOf(node))).toEqual([0, 2, 3]);
  });

  test("is the old one if the unit was known", () => {
    const request = read(user(text("a")));
    const { root } = headOf(request);
    const first = align(root, request);
    const { nodes } = writeUnits(root, freshUnits(first), null);
    const again = align(root, read(user(text("a")), model(text("b"))));
    const units = freshUnits(again);
    const written = writeUnits(must(nodes[0], "it was written"), units, null);
    const all = [...nodes, ...written.nodes];
    expect(nodesAfter(again, units, written.nodes).map((node) => all.indexOf(node))).toEqual([0, 1]);
  });

  test("is the new one after a rewrite, and the one before if the unit was left out", () => {
    const request = read(user(text("a")), model(text("b")));
    const { root } = headOf(request);
    const alignment = align(root, request);
    const [a, b] = freshUnits(alignment);
    const { nodes } = writeUnits(root, [must(a, "first")], null);
    const known = align(root, request);
    const rewriteOf = must(nodes[0], "it was written");
    const rewritten = { ...must(a, "first"), alignedIndex: null, answerNode: null, rewriteOf };
    const written = writeUnits(root, [rewritten], null).nodes;
    // The second unit is not sent.
    expect(b).toBeDefined();
    expect(nodesAfter(known, [rewritten], written).map((node) => written.indexOf(node))).toEqual([0, 0]);
  });
});
