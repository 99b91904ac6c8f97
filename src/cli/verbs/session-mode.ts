import type { HealthAnswer, PricedRequests, PricedSession } from "../../control/index.ts";
import type { ModeAnswer } from "../../execute/index.ts";
import { apiPath, sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { tokensText } from "../format/number-text.ts";
import { moneyText } from "../format/rewrite-text.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isConfirmed } from "../prompt.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const meanings = {
  observe: "requests are sent unchanged, and the model gets no notes",
  ask: "every change that the model wants waits for you",
  auto: "the model may do everything that can be undone",
} as const;

const ceiling =
  "Aperture is configured to observe (APERTURE_MODE), so no session is managed, whatever its own mode is.";

/** The meaning of a mode. If all of Aperture only observes, no session does more. */
async function meaningOf(call: ReadyCall, set: ModeAnswer["mode"]): Promise<string> {
  const health = set === "observe" ? null : await call.api.json<HealthAnswer>(apiPath("/health"));
  if (health?.ok && health.value.value.mode === "observe") return ceiling;
  if (set !== null) return `${meanings[set]}.`;
  const configured = health?.ok === true ? health.value.value.mode : null;
  const meaning = configured === null ? "" : `, which is ${configured}: ${meanings[configured]}`;
  return `as configured (APERTURE_MODE)${meaning}.`;
}

/** The cost of switching within a session; null if the next prompt starts like the last one. */
async function priceOf(call: ReadyCall, session: PricedSession): Promise<string | null> {
  const [word] = call.operands;
  if (word === undefined || session.cached === 0) return null;
  const configured = word === "default" ? await configuredMode(call) : word;
  if (configured === null || !(await changesPrefix(call, session, configured))) return null;
  return (
    `The next prompt will start differently: ~${tokensText(session.cached)} cached tokens are read again, ` +
    `which costs ${moneyText(session.anew)} more, once. After the cache has expired it costs nothing.`
  );
}

/**
 * Compares with the last request, not with the setting: a switch that no request has followed costs nothing.
 */
async function changesPrefix({ api }: ReadyCall, session: PricedSession, wanted: string): Promise<boolean> {
  const query = { after: Math.max(0, session.requests - 1), limit: 1 };
  const page = await api.json<PricedRequests>(sessionPath(session.id, "/requests", query));
  const wasManaged = page.ok && page.value.value.rows.at(-1)?.rendering === "managed";
  return wanted === "observe" ? wasManaged : session.mode === "observe" && !wasManaged;
}

async function configuredMode({ api }: ReadyCall): Promise<string | null> {
  const health = await api.json<HealthAnswer>(apiPath("/health"));
  return health.ok ? health.value.value.mode : null;
}

export async function mode(call: ReadyCall): Promise<number> {
  const [word] = call.operands;
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const path = sessionPath(found.value.session.id, "/mode");
  const wanted = word === "default" ? null : word;
  const price = await priceOf(call, found.value.session);
  if (price !== null) {
    call.screen.err(price);
    if (call.screen.mayPrompt && !(await isConfirmed(call, "Switch now?"))) {
      call.screen.err("Nothing was changed.");
      return exitCodes.failed;
    }
  }
  const reply =
    word === undefined
      ? await call.api.json<ModeAnswer>(path)
      : await call.api.put<ModeAnswer>(path, { mode: wanted });
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { mode: set } = reply.value.value;
  call.screen.out(set ?? "default");
  if (!isQuiet(call)) call.screen.err(await meaningOf(call, set));
  return exitCodes.ok;
}
