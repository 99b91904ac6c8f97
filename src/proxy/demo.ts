import { demoModelName, startDemoModel } from "../testing/index.ts";
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
export function rerouteToDemo(relayed: RelayedExchange): void {
  const { arrival, context, meta } = relayed;
  relayed.arrival = { ...arrival, route: demoRoute(arrival.route), upstream: context.demo };
  relayed.description = null;
  const description = describeRequest(relayed);
  if (meta !== null && description !== null) relayed.meta = { ...meta, ...description };
}

/** Gemini and Bedrock name the model in the path. */
export function isDemoPath({ protocol, rest }: Route): boolean {
  return protocol !== null && demoPathPattern.test(requestPath(rest));
}

const demoPathPattern = new RegExp(`/models?/(?:models/)?${demoModelName}(?:[:/]|%3a)`, "i");
