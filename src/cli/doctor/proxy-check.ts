import type { HealthAnswer } from "../../control/index.ts";
import type { Api } from "../api/api-client.ts";
import { apiPath } from "../api/api-path.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { recordingText } from "../format/recording-text.ts";
import type { CliProblem } from "../outcome.ts";
import { type Diagnosis, failure, passed, warning } from "./diagnosis.ts";

export type ProxyCheck = {
  readonly isRunning: boolean;
  /** Its answer to `/health`; null if it does not run or did not answer. */
  readonly health: HealthAnswer | null;
  readonly findings: readonly Diagnosis[];
};

export async function checkProxy(api: Api, version: string): Promise<ProxyCheck> {
  const health = await api.json<HealthAnswer>(apiPath("/health"));
  if (!health.ok) {
    return {
      isRunning: isSomethingRunning(health.problem),
      health: null,
      findings: [noAnswerDiagnosis(health.problem)],
    };
  }
  const answer = health.value.value;
  return {
    isRunning: true,
    health: answer,
    findings: [
      versionDiagnosis(api.url, { theirs: answer.version, ours: version }),
      ...recordingDiagnoses(answer),
      passed("sends to", addressesText(answer.upstreams)),
    ],
  };
}

/** The upstreams of the running Aperture: this shell may have other settings. */
function addressesText(upstreams: HealthAnswer["upstreams"]): string {
  return Object.entries(upstreams)
    .map(([name, address]) => `${printable(name, 40)} ${printable(address, 120)}`)
    .join(", ");
}

function isSomethingRunning({ exit }: CliProblem): boolean {
  return exit !== exitCodes.stopped;
}

function noAnswerDiagnosis({ exit, message }: CliProblem): Diagnosis {
  if (exit === exitCodes.stopped) {
    return warning("proxy", message, "aperture up, or aperture run CLIENT, which starts it too");
  }
  const fix =
    exit === exitCodes.refused ? "see the token below" : "aperture up --port PORT, with a free port";
  return failure("proxy", message, fix);
}

type VersionPair = { readonly theirs: string; readonly ours: string };

function versionDiagnosis(url: string, { theirs, ours }: VersionPair): Diagnosis {
  if (theirs === ours) return passed("proxy", `${url}, version ${ours}`);
  const says = `${url} has version ${printable(theirs, 40)}, this command has ${ours}`;
  return warning("proxy", says, "restart it with aperture up");
}

function recordingDiagnoses(health: HealthAnswer): readonly Diagnosis[] {
  const { storage, message, recording } = health;
  const stored =
    storage === "ok"
      ? passed("storage", "ok")
      : failure("storage", `degraded: ${printable(message ?? "no reason given", 300)}`, storageFix);
  const isWhole = recording.on && recording.missed === 0;
  const recorded = isWhole
    ? passed("recording", recordingText(health))
    : warning(
        "recording",
        recordingText(health),
        "nothing to do: later requests are recorded; the count starts again with aperture up",
      );
  return [stored, recorded];
}

const storageFix = "free disk space or grant access, as the message says; recording resumes by itself";
