import { expect, test } from "vitest";
import type { Sending } from "../session/index.ts";
import { type Arrival, type Described, type Exchange, openExchange, type RelayContext } from "./exchange.ts";
import { announce, settleForDesk } from "./report.ts";

/** An exchange that has come to its end, and all that hears of it. */
function scene() {
  const heard: string[] = [];
  const context = {
    recorder: {
      requested: () => heard.push("requested"),
      resent: () => heard.push("resent"),
      answered: () => heard.push("answered"),
    },
    desk: { answered: () => heard.push("desk answered") },
    limits: { keptBytesMax: 100 },
    meter: { add: () => undefined },
    active: new Set<Exchange>(),
    concluded: [] as Exchange[],
  } as unknown as RelayContext;
  const route = { protocol: "anthropic" };
  const arrival = { id: "r", route, response: { writableFinished: true } } as unknown as Arrival;
  const exchange = openExchange(context, arrival);
  exchange.described = { id: "r", caller: { secrets: [] } } as unknown as Described;
  exchange.sending = { clientBody: new Uint8Array(1), sent: null } as unknown as Sending;
  exchange.outcome = "complete";
  return { heard, context, exchange };
}

test("a request that ended before it was announced is announced first", () => {
  const { heard, context, exchange } = scene();
  context.concluded.push(exchange);
  announce(exchange);
  expect(heard).toEqual(["requested", "desk answered", "answered"]);
});

test("the desk hears of an end, and uses the body's memory again, only once the recorder has its copy", () => {
  const { heard, context, exchange } = scene();
  context.active.add(exchange);
  settleForDesk(context);
  expect(heard).toEqual([]);
  announce(exchange);
  settleForDesk(context);
  expect(heard).toEqual(["requested", "desk answered"]);
});
