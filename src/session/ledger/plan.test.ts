import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { TokenGauge } from "../unit-tokens.ts";
import { type Item, ownItem, writeItems } from "./draft.ts";
import { nothingOwn, openHead } from "./head.ts";
import { SessionNumbers, StreamNumbers } from "./numbers.ts";
import type { Place } from "./place.ts";
import { placesAfter, spell } from "./plan.ts";
import type { RenderAsked } from "./rendering.ts";
import { freshItems, type Trace, traceRequest } from "./trace.ts";

const mark = { cache_control: { type: "ephemeral" } };
const text = (words: string, over: object = {}) => ({ type: "text", text: words, ...over });
const user = (...content: readonly object[]) => ({ role: "user", content });
const model = (...content: readonly object[]) => ({ role: "assistant", content });

function read(...messages: readonly object[]): WireRequest {
  const body = { model: "claude-opus-4-8", max_tokens: 9, messages };
  return must(ingestRequest(Buffer.from(JSON.stringify(body)), null), "it can be read");
}

const draft = new StreamNumbers(new SessionNumbers()).draft(1);
const headOf = (request: WireRequest) =>
  openHead({ request, own: nothingOwn, draft, gauge: new TokenGauge(null, 1) });

function traced(root: Place, request: WireRequest): Trace {
  const through = {
    throughOwn: true,
    throughOther: () => true,
    throughSystem: true,
    leavesOut: false,
    trusts: false,
  };
  const rules = { bytes: request.bytes, ...through, isOwnLine: () => false, model: null };
  return traceRequest(root, request, { before: null, rules });
}

/** The messages of a request that goes on from a place with these items. */
function spelled(
  request: WireRequest,
  over: { readonly items?: readonly Item[]; readonly dropped?: string } = {},
) {
  const head = headOf(request);
  const trace = traced(head.root, request);
  const { items = freshItems(trace), dropped = null } = over;
  const asked = { request, style: "managed", purpose: "count" } as unknown as RenderAsked;
  const rendered = spell({ asked, head, trace, from: head.root, items, dropped });
  return { ...rendered, head, body: JSON.parse(Buffer.concat(rendered.pieces).toString()) };
}

describe("a request that leaves no trace", () => {
  test("is spelled as the turn would be, and the ledger does not know it afterwards", () => {
    const messages = [user(text("a")), model(text("b")), user(text("c"))];
    const { body, report, leaf, head, hasHeader } = spelled(read(...messages));
    expect(body).toEqual({ model: "claude-opus-4-8", max_tokens: 9, messages });
    expect(report).toEqual({ leaf: "", fresh: [], copies: [], isTurn: false, epoch: null });
    expect([leaf, head.root.children, hasHeader]).toEqual([head.root, [], false]);
  });

  test("has the client's marks where its units are", () => {
    const messages = [user(text("a"), text("b", mark)), model(text("c")), user(text("d", mark))];
    expect(spelled(read(...messages)).body.messages).toEqual(messages);
  });

  test("has them in what was sent before as well", () => {
    const [first, rest] = [user(text("a"), text("b", mark)), [model(text("c")), user(text("d", mark))]];
    const before = read(first);
    const head = headOf(before);
    const { places } = writeItems(head.root, freshItems(traced(head.root, before)), null);
    const request = read(first, ...rest);
    const trace = traced(head.root, request);
    const asked = { request, style: "managed", purpose: "count" } as unknown as RenderAsked;
    const from = must(places.at(-1), "it was written");
    const { pieces } = spell({ asked, head, trace, from, items: freshItems(trace), dropped: null });
    expect(JSON.parse(Buffer.concat(pieces).toString()).messages).toEqual([first, ...rest]);
  });

  test("ends with what is sent for this once", () => {
    const { body } = spelled(read(user(text("a"))), { dropped: "[k7f3 tail]" });
    expect(body.messages).toEqual([user(text("a"), text("[k7f3 tail]"))]);
  });

  test("says whether a message in it clears itself", () => {
    const request = read(user(text("a")));
    expect(spelled(request).usesClearing).toBe(false);
    const head = '{"role":"system","clear_at":"next_user_message","content":[';
    const clearing = ownItem("[k7f3 tail]", { role: "system", head, tail: "]}" }, true);
    const items = [...freshItems(traced(headOf(request).root, request)), clearing];
    expect(spelled(request, { items }).usesClearing).toBe(true);
  });
});

describe("the place of each unit afterwards", () => {
  test("is where it was written, ours in between not counted", () => {
    const request = read(user(text("a")), model(text("b")), user(text("c")));
    const { root } = headOf(request);
    const trace = traced(root, request);
    const fresh = freshItems(trace);
    const wrapping = must(fresh[0], "there is one").wrapping;
    const items = [...fresh.slice(0, 1), ownItem("[k7f3 line]", wrapping, false), ...fresh.slice(1)];
    const { places } = writeItems(root, items, null);
    expect(placesAfter(trace, items, places).map((place) => places.indexOf(place))).toEqual([0, 2, 3]);
  });

  test("is where it was before, for what was known", () => {
    const request = read(user(text("a")));
    const { root } = headOf(request);
    const first = traced(root, request);
    const { places } = writeItems(root, freshItems(first), null);
    const again = traced(root, read(user(text("a")), model(text("b"))));
    const items = freshItems(again);
    const written = writeItems(must(places[0], "it was written"), items, null);
    const all = [...places, ...written.places];
    expect(placesAfter(again, items, written.places).map((place) => all.indexOf(place))).toEqual([0, 1]);
  });

  test("is the new one where it was written anew, and the one before where it was left out", () => {
    const request = read(user(text("a")), model(text("b")));
    const { root } = headOf(request);
    const trace = traced(root, request);
    const [a, b] = freshItems(trace);
    const { places } = writeItems(root, [must(a, "first")], null);
    const known = traced(root, request);
    const anew = { ...must(a, "first"), at: null, place: null, from: must(places[0], "it was written") };
    const written = writeItems(root, [anew], null).places;
    // The second unit is not among what is sent.
    expect(b).toBeDefined();
    expect(placesAfter(known, [anew], written).map((place) => written.indexOf(place))).toEqual([0, 0]);
  });
});
