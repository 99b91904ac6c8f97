import { readFileSync } from "node:fs";
import { join } from "node:path";
import { officialUpstreams } from "../../config/index.ts";
import type { World } from "../call.ts";
import { readJsonValue } from "../install/edit-json.ts";
import { hasLogin } from "../launch/logins.ts";
import { type Finding, fine, warned } from "./finding.ts";

type Known = {
  /** Where requests to Anthropic go. */
  readonly upstream: string;
  readonly managesLogins: boolean;
};

const assumeName = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";

/** What Claude Code does otherwise behind another address than its maker's. */
export function checkClaude(world: World, known: Known): readonly Finding[] {
  return [...largeWindow(world, known), ...login(world, known)];
}

/** It offers no window of a million tokens there, unless it is told that its maker is behind it. */
function largeWindow(world: World, { upstream }: Known): readonly Finding[] {
  const text = settingsText(world);
  const model = world.env["ANTHROPIC_MODEL"] || readJsonValue(text, ["model"]) || "";
  const isTold = (world.env[assumeName] || readJsonValue(text, ["env", assumeName]) || "") !== "";
  if (!/\[1m\]/i.test(model) || isTold) return [];
  const says = `the model ${model} has its large window only at the official address, as far as claude knows`;
  if (!upstream.startsWith(officialUpstreams.anthropic)) {
    return [warned("claude", `${says}, and yours is another`, "choose the model without [1m]")];
  }
  return [warned("claude", says, `export ${assumeName}=1, which is true here: requests go to Anthropic`)];
}

/** Passed on untouched and stored nowhere; whether its sessions are managed is its owner's choice. */
function login(world: World, { managesLogins }: Known): readonly Finding[] {
  if (!hasLogin(world)) return [];
  const says = managesLogins
    ? "managed, as you agreed; aperture config set manageLogins 0 ends that"
    : "only watched, no byte is changed; aperture config set manageLogins 1 manages them";
  return [fine("login", `a subscription, passed on and never stored; its sessions are ${says}`)];
}

function settingsText({ env, home }: World): string {
  try {
    return readFileSync(join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json"), "utf8");
  } catch {
    return "{}";
  }
}
