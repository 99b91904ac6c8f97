import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configPathOf, type Settings } from "../../config/index.ts";
import { changeConfig } from "../config-change.ts";
import { configFileValues, environmentWith } from "../load-settings.ts";
import { promptUser } from "../prompt.ts";
import type { ReadyCall, SystemInfo } from "../verb-call.ts";

const name = "APERTURE_MANAGE_LOGINS";

export type LoginAnswer = {
  readonly settings: Settings;
  /** The answer of just now, which a running Aperture does not know yet. Null if nothing was asked. */
  readonly managesLogins: boolean | null;
};

/**
 * Asks the owner of a subscription login once whether its sessions may be managed. Without an answer they are
 * not. The answer is stored; `aperture config set manageLogins` changes it.
 */
export async function askAboutLogin(call: ReadyCall): Promise<LoginAnswer> {
  const { settings, screen, system } = call;
  if (settings.mode === "observe" || isAnswered(call) || !screen.mayPrompt || !hasLogin(system))
    return { settings, managesLogins: null };
  for (const line of explanation) screen.err(line);
  const answer = await promptUser(call, "Manage sessions of this login too? [y/N] ");
  const isYes = answer === "y" || answer === "yes";
  const stored = changeConfig(call, { name, value: isYes ? "1" : "0" });
  screen.err(stored.ok ? `Stored in ${stored.value}.` : stored.problem.message);
  return { settings: { ...settings, managesLogins: isYes }, managesLogins: isYes };
}

const explanation = [
  "You are logged in to Claude Code with a subscription. Aperture relays your login unchanged and never stores it.",
  "Without your consent it only observes such sessions: it sends what the client wrote, byte for byte.",
];

function isAnswered({ system, flags }: ReadyCall): boolean {
  const env = environmentWith(system.env, flags);
  if ((env[name] ?? "").trim() !== "" || configPathOf(env, system.home) === null) return true;
  return configFileValues({ env, home: system.home })[name] !== undefined;
}

/** Checks only where the client stores its login; Aperture does not read it. */
export function hasLogin({ env, home }: Pick<SystemInfo, "env" | "home">): boolean {
  if ((env["ANTHROPIC_API_KEY"] ?? "") !== "" || (env["ANTHROPIC_AUTH_TOKEN"] ?? "") !== "") return false;
  if ((env["CLAUDE_CODE_OAUTH_TOKEN"] ?? "") !== "") return true;
  const folder = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  if (existsSync(join(folder, ".credentials.json"))) return true;
  // On systems with a keychain, the client notes the account beside its settings.
  return /"oauthAccount"\s*:\s*\{/.test(textAt(join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json")));
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
