import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configPathOf, type Settings } from "../../config/index.ts";
import { ask } from "../asking.ts";
import type { ReadyCall, World } from "../call.ts";
import { changeConfig } from "../config-change.ts";
import { environmentWith, valuesNow } from "../load-settings.ts";

const name = "APERTURE_MANAGE_LOGINS";

/**
 * Sessions of a subscription are managed only after its owner said yes, once. Whoever cannot be asked has not
 * said it. The answer is remembered; it can be changed with `aperture config set manageLogins`.
 */
export async function settleLogins(call: ReadyCall): Promise<Settings> {
  const { settings, screen, world } = call;
  if (settings.mode === "observe" || isSettled(call) || !screen.isAsking || !hasLogin(world)) return settings;
  for (const line of explanation) screen.err(line);
  const answer = await ask(call, "Manage sessions of this login too? [y/N] ");
  const isYes = answer === "y" || answer === "yes";
  const kept = changeConfig(call, { name, value: isYes ? "1" : "0" });
  screen.err(kept.ok ? `Remembered in ${kept.value}.` : kept.problem.message);
  return { ...settings, managesLogins: isYes };
}

const explanation = [
  "You are logged in to Claude Code with a subscription. Aperture passes your login on untouched and never stores it.",
  "Without your consent it only watches such sessions: what is sent stays byte for byte what the client wrote.",
];

function isSettled({ world, flags }: ReadyCall): boolean {
  const env = environmentWith(world.env, flags);
  if ((env[name] ?? "").trim() !== "" || configPathOf(env, world.home) === null) return true;
  return valuesNow({ env, home: world.home }).ofFile[name] !== undefined;
}

/** By where the client keeps it; what stands there is none of our business. */
export function hasLogin({ env, home }: Pick<World, "env" | "home">): boolean {
  if ((env["ANTHROPIC_API_KEY"] ?? "") !== "" || (env["ANTHROPIC_AUTH_TOKEN"] ?? "") !== "") return false;
  if ((env["CLAUDE_CODE_OAUTH_TOKEN"] ?? "") !== "") return true;
  const folder = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  if (existsSync(join(folder, ".credentials.json"))) return true;
  // Where the system has a keychain, the client notes beside its settings whose account is in it.
  return /"oauthAccount"\s*:\s*\{/.test(textAt(join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json")));
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
