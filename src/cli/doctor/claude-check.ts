import { readFileSync } from "node:fs";
import { join } from "node:path";
import { officialUpstreams } from "../../config/index.ts";
import { readJsonValue } from "../install/edit-json.ts";
import { hasLogin } from "../launch/subscription-login.ts";
import type { SystemInfo } from "../verb-call.ts";
import { type Diagnosis, passed, warning } from "./diagnosis.ts";

type ClaudeFacts = {
  /** The upstream for Anthropic. */
  readonly upstream: string;
  readonly managesLogins: boolean;
};

const assumeName = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";

/** Checks what Claude Code does differently behind an address other than Anthropic's. */
export function checkClaude(system: SystemInfo, known: ClaudeFacts): readonly Diagnosis[] {
  return [...largeWindow(system, known), ...login(system, known)];
}

/**
 * Claude Code offers no window of a million tokens there, unless a variable says that Anthropic is behind the
 * address.
 */
function largeWindow(system: SystemInfo, { upstream }: ClaudeFacts): readonly Diagnosis[] {
  const text = settingsText(system);
  const model = system.env["ANTHROPIC_MODEL"] || readJsonValue(text, ["model"]) || "";
  const isTold = (system.env[assumeName] || readJsonValue(text, ["env", assumeName]) || "") !== "";
  if (!/\[1m\]/i.test(model) || isTold) return [];
  const says = `claude offers the large window of ${model} only at the official address`;
  if (!upstream.startsWith(officialUpstreams.anthropic)) {
    return [warning("claude", `${says}, and your upstream is another one`, "choose the model without [1m]")];
  }
  return [warning("claude", says, `export ${assumeName}=1: your requests do go to Anthropic`)];
}

/** The login is relayed unchanged and never stored. Its owner decides whether its sessions are managed. */
function login(system: SystemInfo, { managesLogins }: ClaudeFacts): readonly Diagnosis[] {
  if (!hasLogin(system)) return [];
  const says = managesLogins
    ? "managed with your consent; aperture config set manageLogins 0 ends that"
    : "only observed, no byte is changed; aperture config set manageLogins 1 manages them";
  return [passed("login", `a subscription login, relayed and never stored; its sessions are ${says}`)];
}

function settingsText({ env, home }: SystemInfo): string {
  try {
    return readFileSync(join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json"), "utf8");
  } catch {
    return "{}";
  }
}
