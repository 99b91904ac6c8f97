import { isAbsolute, join } from "node:path";
import type { SystemInfo } from "./verb-call.ts";

/** The folder for logs and for records of what was installed. */
export function stateFolderOf({ env, home }: Pick<SystemInfo, "env" | "home">): string {
  return join(xdgFolder(env["XDG_STATE_HOME"], join(home, ".local", "state")), "aperture");
}

/** The folder in which programs keep their settings. */
export function configFolderOf({ env, home }: Pick<SystemInfo, "env" | "home">): string {
  return xdgFolder(env["XDG_CONFIG_HOME"], join(home, ".config"));
}

/** The XDG specification says that a relative path is ignored. */
function xdgFolder(given: string | undefined, fallback: string): string {
  return given !== undefined && isAbsolute(given) ? given : fallback;
}
