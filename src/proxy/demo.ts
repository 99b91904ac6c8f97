import { demoModelName, startDemoModel } from "../testing/index.ts";
import { framingOf, headerOf } from "./headers.ts";
import type { RelayLimits } from "./options.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";
import { describeRequest } from "./request-description.ts";
import { type Route, requestPath } from "./routes.ts";
import { openUpstream, type Upstream } from "./upstreams.ts";

/**
 * The built-in scripted model. It answers requests for its name on every route, as an upstream like any
 * other.
 */
export type DemoUpstream = { readonly upstream: Upstream; readonly close: () => Promise<void> };

export async function openDemo(limits: RelayLimits): Promise<DemoUpstream> {
  const model = await startDemoModel();
  const upstream = openUpstream({ name: demoModelName, url: new URL(model.url), limits });
  const close = async (): Promise<void> => {
    upstream.close();
    await model.close();
  };
  return { upstream, close };
}

export function demoRoute(route: Route): Route {
  return { ...route, upstream: demoModelName, label: "named" };
}

/** Sends the exchange to the demo model instead. Contract: none of its bytes has left yet. */
export function rerouteToDemo(exchange: RelayedExchange, upstream: Upstream): void {
  const { arrival, awaitingPlan } = exchange;
  exchange.arrival = { ...arrival, route: demoRoute(arrival.route), upstream };
  exchange.description = null;
  const description = describeRequest(exchange);
  if (awaitingPlan !== null && description !== null)
    exchange.awaitingPlan = { ...awaitingPlan, ...description };
}

/** Gemini and Bedrock name the model in the path. */
export function isDemoPath({ protocol, rest }: Route): boolean {
  return protocol !== null && demoPathPattern.test(requestPath(rest));
}

const demoPathPattern = new RegExp(`/models?/(?:models/)?${demoModelName}(?:[:/]|%3a)`, "i");

/** A body that has not named its model within this many bytes is relayed. */
const scanBytesMax = 1024 * 1024;

/** The body may name the demo model, so it has to be scanned before it is sent anywhere. */
export function mayNameModel({ arrival }: RelayedExchange): boolean {
  const { route, head } = arrival;
  if (route.protocol === null || route.protocol === "gemini" || route.protocol === "bedrock") return false;
  return framingOf(head) !== "none" && headerOf(head, "content-encoding") === undefined;
}

/** Scans the next chunk. True if the body names another model, or cannot be scanned. */
export function namesOtherModel(exchange: RelayedExchange, chunk: Buffer): boolean {
  const { clientBody, modelScanTail: tail } = exchange;
  const isFirst = clientBody.length === chunk.length;
  const text = (tail ?? "") + chunk.toString("latin1");
  if (clientBody.length > scanBytesMax || (isFirst && !/^\s*(?:\{|$)/.test(text.slice(0, 64)))) return true;
  exchange.modelScanTail = text.slice(-tailChars);
  const named = modelPattern.exec(text)?.[1];
  return named !== undefined && named !== demoModelName;
}

/** Kept from the chunk before, to find a name that lies across two chunks. */
const tailChars = 200;

/** Does not match inside strings, where the quotes would be escaped. */
const modelPattern = /(?<!\\)"model"\s*:\s*"([^"\\]*)"/;
const demoNameBytes = Buffer.from(`"${demoModelName}"`);

/** Most clients name the model first, and searching a whole large body takes a millisecond. */
const headBytes = 4_096;

/** The whole body names the demo model. It is parsed only if it contains the name. */
export function isDemoBody({ clientBody }: RelayedExchange): boolean {
  const chunks = clientBody.chunks ?? [];
  const named = modelPattern.exec(chunks[0]?.toString("latin1", 0, headBytes) ?? "")?.[1];
  if (named === undefined ? !containsDemoName(chunks) : named !== demoModelName) return false;
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof body === "object" && body !== null && "model" in body && body.model === demoModelName;
  } catch {
    return false;
  }
}

/** Also finds a name that lies across two chunks. */
function containsDemoName(chunks: readonly Buffer[]): boolean {
  let before: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    if (chunk.includes(demoNameBytes)) return true;
    if (Buffer.concat([before, chunk.subarray(0, demoNameBytes.length)]).includes(demoNameBytes)) return true;
    before = chunk.subarray(-demoNameBytes.length);
  }
  return false;
}
