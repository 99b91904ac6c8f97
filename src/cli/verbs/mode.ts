import type { HealthAnswer, PricedPage, PricedSession } from "../../control/index.ts";
import type { ModeAnswer } from "../../session/index.ts";
import { apiPath, sessionPath } from "../api-path.ts";
import { isConfirmed } from "../asking.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { tokensText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { moneyText } from "../format/rewrite.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

const modes = ["observe", "ask", "auto", "default"] as const;

const meanings = {
  observe: "its requests go up as its client sends them, and its model is told nothing",
  ask: "whatever its model wants to change waits for you",
  auto: "its model may do what can be taken back",
} as const;

const ceiling =
  "Aperture is configured to observe (APERTURE_MODE), so no session is managed, whatever is set here.";

/** What a mode means here: where all of Aperture only observes, no session does more. */
async function meaningOf(call: ReadyCall, set: ModeAnswer["mode"]): Promise<string> {
  const health = set === "observe" ? null : await call.api.json<HealthAnswer>(apiPath("/health"));
  if (health?.ok && health.value.value.mode === "observe") return ceiling;
  if (set !== null) return `${meanings[set]}.`;
  const configured = health?.ok === true ? health.value.value.mode : null;
  const meaning = configured === null ? "" : `, which is ${configured}: ${meanings[configured]}`;
  return `as it is configured (APERTURE_MODE)${meaning}.`;
}

/** What it costs to switch in the middle of a session; null: nothing, its next prompt begins as the last. */
async function priceOf(call: ReadyCall, session: PricedSession): Promise<string | null> {
  const [word] = call.operands;
  if (word === undefined || session.cached === 0) return null;
  const configured = word === "default" ? await configuredMode(call) : word;
  if (configured === null || !(await isOtherwise(call, session, configured))) return null;
  return (
    `The next prompt then begins otherwise: ~${tokensText(session.cached)} tokens that are cached now are read anew, ` +
    `${moneyText(session.anew)} more, once. After a pause longer than the cache lives it costs nothing.`
  );
}

/** By what was sent last, not by what is set: a switch that no request has followed costs nothing. */
async function isOtherwise({ api }: ReadyCall, session: PricedSession, wanted: string): Promise<boolean> {
  const query = { after: Math.max(0, session.requests - 1), limit: 1 };
  const page = await api.json<PricedPage>(sessionPath(session.id, "/requests", query));
  const wasManaged = page.ok && page.value.value.rows.at(-1)?.rendering === "managed";
  return wanted === "observe" ? wasManaged : session.mode === "observe" && !wasManaged;
}

async function configuredMode({ api }: ReadyCall): Promise<string | null> {
  const health = await api.json<HealthAnswer>(apiPath("/health"));
  return health.ok ? health.value.value.mode : null;
}

export async function mode(call: ReadyCall): Promise<number> {
  const [word] = call.operands;
  if (word !== undefined && !modes.some((each) => each === word)) {
    const problem = `"${printable(word, 40)}" is no mode: use observe, ask, auto, or default for what is configured.`;
    return giveUp(call, { exit: exitCodes.usage, message: problem });
  }
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const path = sessionPath(found.value.session.id, "/mode");
  const wanted = word === "default" ? null : word;
  const price = await priceOf(call, found.value.session);
  if (price !== null) {
    call.screen.err(price);
    if (call.screen.isAsking && !(await isConfirmed(call, "Switch now?"))) {
      call.screen.err("Nothing was changed.");
      return exitCodes.failed;
    }
  }
  const reply =
    word === undefined
      ? await call.api.json<ModeAnswer>(path)
      : await call.api.put<ModeAnswer>(path, { mode: wanted });
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { mode: set } = reply.value.value;
  call.screen.out(set ?? "default");
  if (!isQuiet(call)) call.screen.err(await meaningOf(call, set));
  return exitCodes.ok;
}
