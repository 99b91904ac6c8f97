import { isAbsolute, join } from "node:path";
import type { World } from "./call.ts";

type Places = Pick<World, "env" | "home">;

/** Where this user's logs and records of what was installed are kept. */
export function stateFolderOf({ env, home }: Places): string {
  return join(sharedFolder(env["XDG_STATE_HOME"], join(home, ".local", "state")), "aperture");
}

/** Where programs keep their settings. */
export function configFolderOf({ env, home }: Places): string {
  return sharedFolder(env["XDG_CONFIG_HOME"], join(home, ".config"));
}

/** The XDG rules say that a relative path is to be ignored. */
function sharedFolder(given: string | undefined, usual: string): string {
  return given !== undefined && isAbsolute(given) ? given : usual;
}
