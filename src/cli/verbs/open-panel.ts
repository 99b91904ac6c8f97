import { spawn } from "node:child_process";
import type { LoginLink } from "../../control/index.ts";
import { apiPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

/** The link works once and for a minute, so it may be printed. The token is never printed. */
export async function open(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const hasSession = operands[0] !== undefined || flags.has("session");
  const found = hasSession ? await findSession(api, sessionArgument(call, operands[0])) : null;
  if (found !== null && !found.ok) return reportProblem(call, found.problem);
  const link = await api.post<LoginLink>(apiPath("/login-links"), {});
  if (!link.ok) return reportProblem(call, link.problem);
  const { path, expiresMs } = link.value.value;
  const page = found === null ? "" : `&session=${encodeURIComponent(found.value.session.id)}`;
  const url = `${api.url}${path}${page}`;
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, url, expiresMs }));
  screen.out(url);
  if (screen.isTerminal && !flags.has("print")) browse(url, call);
  else if (!isQuiet(call)) screen.err("The link logs one browser in. It is valid for a minute.");
  return exitCodes.ok;
}

function browse(url: string, { system, screen }: ReadyCall): void {
  const [file, ...args] = browserOf(system.env["BROWSER"]);
  const child = spawn(file, [...args, url], { stdio: "ignore", detached: true, env: { ...system.env } });
  child.on("error", () => screen.err("No browser could be opened. Open the link in one within a minute."));
  child.unref();
}

function browserOf(chosen: string | undefined): readonly [string, ...string[]] {
  if (chosen !== undefined && chosen !== "") return [chosen];
  if (process.platform === "darwin") return ["open"];
  // `start` takes its first quoted argument as a window title.
  return process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
}
