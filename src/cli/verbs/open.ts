import { spawn } from "node:child_process";
import type { LoginLink } from "../../control/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

/** The link works once and for a minute, so it may be printed; the token itself never is. */
export async function open(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const hasSession = operands[0] !== undefined || flags.has("session");
  const found = hasSession ? await findSession(api, sessionWord(call, operands[0])) : null;
  if (found !== null && !found.ok) return giveUp(call, found.problem);
  const link = await api.post<LoginLink>(apiPath("/login-links"), {});
  if (!link.ok) return giveUp(call, link.problem);
  const { path, expiresMs } = link.value.value;
  const page = found === null ? "" : `&session=${encodeURIComponent(found.value.session.id)}`;
  const url = `${api.url}${path}${page}`;
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, url, expiresMs }));
  screen.out(url);
  if (screen.isTerminal && !flags.has("print")) browse(url, call);
  else if (!isQuiet(call)) screen.err("It logs one browser in, within a minute.");
  return exitCodes.ok;
}

function browse(url: string, { world, screen }: ReadyCall): void {
  const [file, ...args] = browserOf(world.env["BROWSER"]);
  const child = spawn(file, [...args, url], { stdio: "ignore", detached: true, env: { ...world.env } });
  child.on("error", () => screen.err("No browser could be opened; open the link in one within a minute."));
  child.unref();
}

function browserOf(chosen: string | undefined): readonly [string, ...string[]] {
  if (chosen !== undefined && chosen !== "") return [chosen];
  if (process.platform === "darwin") return ["open"];
  // The first argument in quotes would be the title of a window.
  return process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
}
