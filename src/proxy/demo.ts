import { demoModelName, startDemoModel } from "../testing/index.ts";
import { describeRequest } from "./describe.ts";
import type { Exchange } from "./exchange.ts";
import { framingOf, headerOf } from "./headers.ts";
import type { RelayLimits } from "./options.ts";
import { pathOf, type Route } from "./routes.ts";
import { openUpstream, type Upstream } from "./upstreams.ts";

/** The scripted model inside, which answers to its name on every route: an upstream like any other. */
export type Demo = { readonly upstream: Upstream; readonly close: () => Promise<void> };

export async function openDemo(limits: RelayLimits): Promise<Demo> {
  const model = await startDemoModel();
  const upstream = openUpstream({ name: demoModelName, url: new URL(model.url), limits });
  const close = async (): Promise<void> => {
    upstream.close();
    await model.close();
  };
  return { upstream, close };
}

export function toDemo(route: Route): Route {
  return { ...route, upstream: demoModelName, label: "named" };
}

/** From here on the exchange is one with the demo's model; nothing of it has left yet. */
export function turnToDemo(exchange: Exchange, upstream: Upstream): void {
  const { arrival, asking } = exchange;
  exchange.arrival = { ...arrival, route: toDemo(arrival.route), upstream };
  exchange.described = null;
  const described = describeRequest(exchange);
  if (asking !== null && described !== null) exchange.asking = { ...asking, ...described };
}

/** Gemini and Bedrock name the model in the path. */
export function isDemoPath({ protocol, rest }: Route): boolean {
  return protocol !== null && inPath.test(pathOf(rest));
}

const inPath = new RegExp(`/models?/(?:models/)?${demoModelName}(?:[:/]|%3a)`, "i");

/** A body that has not named its model by then is not waited for any longer. */
const heldBytesMax = 1024 * 1024;

/** Whether the body may name a model, so that it has to be looked at before anybody else gets it. */
export function mayNameModel({ arrival }: Exchange): boolean {
  const { route, head } = arrival;
  if (route.protocol === null || route.protocol === "gemini" || route.protocol === "bedrock") return false;
  return framingOf(head) !== "none" && headerOf(head, "content-encoding") === undefined;
}

/** Whether what has come so far, this last, says that another model is meant, or that nobody can tell. */
export function namesAnother(exchange: Exchange, chunk: Buffer): boolean {
  const { sent, held } = exchange;
  const isFirst = sent.length === chunk.length;
  const text = (held ?? "") + chunk.toString("latin1");
  if (sent.length > heldBytesMax || (isFirst && !/^\s*(?:\{|$)/.test(text.slice(0, 64)))) return true;
  exchange.held = text.slice(-tailChars);
  const named = anyModel.exec(text)?.[1];
  return named !== undefined && named !== demoModelName;
}

/** Enough that a name is found that lies across the border of two pieces. */
const tailChars = 200;

/** Outside of strings, where the quotes of a name would be escaped. */
const anyModel = /(?<!\\)"model"\s*:\s*"([^"\\]*)"/;
const needle = Buffer.from(`"${demoModelName}"`);

/** Most clients name the model first: looking through all of a body takes a millisecond that nobody has. */
const headBytes = 4_096;

/** Whether the whole body names the demo's model. It is parsed only where its name stands in it. */
export function isDemoBody({ sent }: Exchange): boolean {
  const chunks = sent.chunks ?? [];
  const named = anyModel.exec(chunks[0]?.toString("latin1", 0, headBytes) ?? "")?.[1];
  if (named === undefined ? !holdsNeedle(chunks) : named !== demoModelName) return false;
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof body === "object" && body !== null && "model" in body && body.model === demoModelName;
  } catch {
    return false;
  }
}

/** The name may lie across the border of two pieces. */
function holdsNeedle(chunks: readonly Buffer[]): boolean {
  let before: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    if (chunk.includes(needle)) return true;
    if (Buffer.concat([before, chunk.subarray(0, needle.length)]).includes(needle)) return true;
    before = chunk.subarray(-needle.length);
  }
  return false;
}
