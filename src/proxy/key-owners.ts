import { apertureError } from "../base/index.ts";
import type { Refusal } from "./failures.ts";
import type { Head } from "./headers.ts";

/** Keys whose form says who issued them. */
const owners = [
  { prefix: "sk-ant-", owner: "Anthropic", host: "api.anthropic.com" },
  { prefix: "sk-proj-", owner: "OpenAI", host: "api.openai.com" },
  { prefix: "AIza", owner: "Google", host: "generativelanguage.googleapis.com" },
] as const;

const officialHosts: ReadonlySet<string> = new Set(owners.map(({ host }) => host));

/**
 * A key of one provider on its way to the official host of another is a mistake in the client's base URL, and
 * the key would be known to the wrong company. A host the user chose may be a gateway that takes any key.
 */
export function misplacedKey(head: Head, upstreamHost: string): Refusal | null {
  if (!officialHosts.has(upstreamHost)) return null;
  for (let at = 0; at < head.names.length; at += 1) {
    if (!isKeyHeader(head.names[at] ?? "")) continue;
    const key = (head.raw[at * 2 + 1] ?? "").replace(/^bearer\s+/i, "");
    const owner = owners.find(({ prefix, host }) => host !== upstreamHost && key.startsWith(prefix));
    if (owner === undefined) continue;
    return {
      status: 400,
      error: apertureError("AP_KEY_MISPLACED", { owner: owner.owner, host: upstreamHost }),
    };
  }
  return null;
}

function isKeyHeader(name: string): boolean {
  return name === "authorization" || name === "x-api-key" || name === "x-goog-api-key" || name === "api-key";
}
