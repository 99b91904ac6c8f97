import { loopbackHosts, officialUpstreams, type Settings } from "../../config/index.ts";
import type { HealthAnswer } from "../../control/index.ts";
import { printable } from "../format/printable.ts";
import { connectProblem } from "../local-address.ts";
import { type Diagnosis, failure, passed, warning } from "./diagnosis.ts";

/** Long enough for a name lookup and a slow network. */
const reachMs = 3_000;

const problemTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses connections",
  ENOTFOUND: "cannot be resolved: the name is wrong, or there is no network",
  EAI_AGAIN: "cannot be resolved at the moment",
  ETIMEDOUT: "does not answer",
};

/**
 * Checks whether upstreams accept connections: those of the running Aperture, else those of the settings. It
 * tries Anthropic's and every one that is not official.
 */
export async function checkReach(
  health: HealthAnswer | null,
  settings: Pick<Settings, "upstreams">,
): Promise<readonly Diagnosis[]> {
  const all = health === null ? addressesOf(settings) : health.upstreams;
  const official: Readonly<Record<string, string>> = officialUpstreams;
  const wanted = Object.entries(all).filter(([name, address]) => {
    return name === "anthropic" || !address.startsWith(official[name] ?? " ");
  });
  const found = await Promise.all(wanted.map(([name, address]) => checkUpstream(name, address)));
  const problems = found.filter((finding) => finding !== null);
  const names = wanted.map(([name]) => printable(name, 40)).join(", ");
  return problems.length > 0 ? problems : [passed("reach", `${names} can be reached`)];
}

/** The settings accept only usable addresses. This checks whether they are wise. */
export function checkUpstreams({ upstreams }: Pick<Settings, "upstreams">): Diagnosis {
  const { named, ...builtIn } = upstreams;
  const all = [...Object.entries(builtIn), ...named];
  const open = all.filter(([, url]) => url.protocol === "http:" && !loopbackHosts.includes(url.hostname));
  if (open.length > 0) {
    const addresses = open.map(([name, url]) => `${name} (${url.host})`).join(", ");
    return warning("upstreams", `keys are sent unencrypted to ${addresses}`, "use https:// addresses");
  }
  const official: Readonly<Record<string, string>> = officialUpstreams;
  const changed = all.filter(([name, url]) => url.origin !== official[name]);
  const others = changed.map(([name, url]) => `${name} ${url.host}`).join(", ");
  return passed(
    "upstreams",
    others === ""
      ? "these settings use the official ones"
      : `these settings use ${others}, otherwise the official ones`,
  );
}

function addressesOf({ upstreams: { named, ...builtIn } }: Pick<Settings, "upstreams">) {
  return Object.fromEntries([...Object.entries(builtIn), ...named].map(([name, url]) => [name, url.href]));
}

async function checkUpstream(name: string, address: string): Promise<Diagnosis | null> {
  if (!URL.canParse(address)) return null;
  const problem = await connectProblem(new URL(address), reachMs);
  if (problem === null) return null;
  const says = problemTexts[problem] ?? `cannot be reached (${printable(problem, 40)})`;
  const setting =
    name in officialUpstreams ? `upstream${name[0]?.toUpperCase()}${name.slice(1)}` : "upstreams";
  const fix = `check that it runs and that the network works, or correct the address: aperture config set ${setting} URL`;
  return failure("reach", `${printable(name, 40)} (${printable(new URL(address).host, 120)}) ${says}`, fix);
}
