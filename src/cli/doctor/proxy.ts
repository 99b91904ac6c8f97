import { loopbackHosts, officialUpstreams, type Settings } from "../../config/index.ts";
import type { HealthAnswer } from "../../control/index.ts";
import { apiPath } from "../api-path.ts";
import type { Api } from "../client.ts";
import { printable } from "../format/printable.ts";
import { recordingText } from "../format/recording.ts";
import type { Problem } from "../outcome.ts";
import { exitCodes } from "../usage.ts";
import { broken, type Finding, fine, warned } from "./finding.ts";

export type ProxyFindings = {
  readonly isRunning: boolean;
  /** What it says of itself; null: it does not run, or did not tell us. */
  readonly health: HealthAnswer | null;
  readonly findings: readonly Finding[];
};

/** Whether it answers, and what it says of itself. */
export async function checkProxy(api: Api, version: string): Promise<ProxyFindings> {
  const health = await api.json<HealthAnswer>(apiPath("/health"));
  if (!health.ok) {
    return { isRunning: isThere(health.problem), health: null, findings: [unanswered(health.problem)] };
  }
  const answer = health.value.value;
  return {
    isRunning: true,
    health: answer,
    findings: [
      versionFinding(api.url, { theirs: answer.version, ours: version }),
      ...recordFindings(answer),
      fine("sends to", addressesText(answer.upstreams)),
    ],
  };
}

/** What the running one was started with: this shell may have other settings. */
function addressesText(upstreams: HealthAnswer["upstreams"]): string {
  return Object.entries(upstreams)
    .map(([name, address]) => `${printable(name, 40)} ${printable(address, 120)}`)
    .join(", ");
}

function isThere({ exit }: Problem): boolean {
  return exit !== exitCodes.stopped;
}

function unanswered({ exit, message }: Problem): Finding {
  if (exit === exitCodes.stopped) {
    return warned("proxy", message, "aperture up, or aperture run CLIENT, which starts it by itself");
  }
  const fix = exit === exitCodes.refused ? "see the token below" : "aperture up --port with a free port";
  return broken("proxy", message, fix);
}

type Versions = { readonly theirs: string; readonly ours: string };

function versionFinding(url: string, { theirs, ours }: Versions): Finding {
  if (theirs === ours) return fine("proxy", `${url}, version ${ours}`);
  const says = `${url} has version ${printable(theirs, 40)}, this command has ${ours}`;
  return warned("proxy", says, "stop it and start it again with aperture up");
}

function recordFindings(health: HealthAnswer): readonly Finding[] {
  const { storage, message, recording } = health;
  const stored =
    storage === "ok"
      ? fine("storage", "ok")
      : broken("storage", `degraded: ${printable(message ?? "no reason given", 300)}`, storageFix);
  const isWhole = recording.on && recording.missed === 0;
  const recorded = isWhole
    ? fine("recording", recordingText(health))
    : warned(
        "recording",
        recordingText(health),
        "requests of that moment are missing, later ones are not; the count starts anew with aperture up",
      );
  return [stored, recorded];
}

const storageFix = "make room or give rights as it says; recording goes on by itself";

/** The settings accept only addresses that can be used; what is left is whether they are wise. */
export function checkUpstreams({ upstreams }: Pick<Settings, "upstreams">): Finding {
  const { named, ...builtIn } = upstreams;
  const all = [...Object.entries(builtIn), ...named];
  const open = all.filter(([, url]) => url.protocol === "http:" && !loopbackHosts.includes(url.hostname));
  if (open.length > 0) {
    const places = open.map(([name, url]) => `${name} (${url.host})`).join(", ");
    return warned("upstreams", `keys travel unencrypted to ${places}`, "use https:// in their addresses");
  }
  const official: Readonly<Record<string, string>> = officialUpstreams;
  const changed = all.filter(([name, url]) => url.origin !== official[name]);
  const others = changed.map(([name, url]) => `${name} ${url.host}`).join(", ");
  return fine(
    "upstreams",
    others === ""
      ? "by these settings the official ones"
      : `by these settings ${others}, else the official ones`,
  );
}
