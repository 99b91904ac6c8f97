import { officialUpstreams, type Settings } from "../../config/index.ts";
import type { HealthAnswer } from "../../control/index.ts";
import { printable } from "../format/printable.ts";
import { connectProblem } from "./addresses.ts";
import { broken, type Finding, fine } from "./finding.ts";

/** Names may have to be looked up and the way may be long. */
const reachMs = 3_000;

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses connections",
  ENOTFOUND: "has no address: its name is wrong, or there is no network",
  EAI_AGAIN: "has no address: its name cannot be looked up now",
  ETIMEDOUT: "does not answer",
};

/**
 * Whether requests can arrive at all: at the addresses of the running Aperture, else at those of
 * the settings: the one most clients use, and every one that somebody chose.
 */
export async function checkReach(
  health: HealthAnswer | null,
  settings: Pick<Settings, "upstreams">,
): Promise<readonly Finding[]> {
  const all = health === null ? addressesOf(settings) : health.upstreams;
  const official: Readonly<Record<string, string>> = officialUpstreams;
  const wanted = Object.entries(all).filter(([name, address]) => {
    return name === "anthropic" || !address.startsWith(official[name] ?? " ");
  });
  const found = await Promise.all(wanted.map(([name, address]) => reach(name, address)));
  const problems = found.filter((finding) => finding !== null);
  const names = wanted.map(([name]) => printable(name, 40)).join(", ");
  return problems.length > 0 ? problems : [fine("reach", `${names} can be reached`)];
}

function addressesOf({ upstreams: { named, ...builtIn } }: Pick<Settings, "upstreams">) {
  return Object.fromEntries([...Object.entries(builtIn), ...named].map(([name, url]) => [name, url.href]));
}

async function reach(name: string, address: string): Promise<Finding | null> {
  if (!URL.canParse(address)) return null;
  const problem = await connectProblem(new URL(address), reachMs);
  if (problem === null) return null;
  const says = words[problem] ?? `cannot be reached (${printable(problem, 40)})`;
  const setting =
    name in officialUpstreams ? `upstream${name[0]?.toUpperCase()}${name.slice(1)}` : "upstreams";
  const fix = `see that it runs and the network is there, or correct it: aperture config set ${setting} URL`;
  return broken("reach", `${printable(name, 40)} (${printable(new URL(address).host, 120)}) ${says}`, fix);
}
