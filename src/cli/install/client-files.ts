import { join } from "node:path";
import { type ClientName, opencodeConfig, piModels, providerAddresses } from "../launch/client-addresses.ts";
import { configFolderOf } from "../user-folders.ts";
import type { SystemInfo } from "../verb-call.ts";

/** A value at a path of keys. */
export type FileValue = { readonly path: readonly string[]; readonly value: string };
/** A settings file of a client, and the values it must contain. */
export type ClientFilePlan = {
  readonly path: string;
  readonly form: "json" | "toml" | "env";
  readonly values: readonly FileValue[];
  /** Set only values that are missing: the user's own choice stays. */
  readonly unlessSet?: true;
};

/** The settings that each client reads, as its makers document them. */
export function clientFilePlans(
  client: ClientName,
  url: string,
  system: Pick<SystemInfo, "env" | "home">,
): readonly ClientFilePlan[] {
  const { anthropic, openai, gemini } = providerAddresses(url);
  const { env, home } = system;
  switch (client) {
    case "claude": {
      const folder = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
      const values = [{ path: ["env", "ANTHROPIC_BASE_URL"], value: anthropic }];
      return [{ path: join(folder, "settings.json"), form: "json", values }];
    }
    case "codex": {
      const folder = env["CODEX_HOME"] || join(home, ".codex");
      const values = [{ path: ["openai_base_url"], value: openai }];
      return [{ path: join(folder, "config.toml"), form: "toml", values }];
    }
    case "gemini": {
      const folder = join(env["GEMINI_CLI_HOME"] || home, ".gemini");
      const key = { path: ["security", "auth", "selectedType"], value: "gemini-api-key" };
      return [
        {
          path: join(folder, ".env"),
          form: "env",
          values: [{ path: ["GOOGLE_GEMINI_BASE_URL"], value: gemini }],
        },
        { path: join(folder, "settings.json"), form: "json", values: [key], unlessSet: true },
      ];
    }
    case "opencode": {
      const path = join(configFolderOf(system), "opencode", "opencode.json");
      return [{ path, form: "json", values: leavesOf(opencodeConfig(url)) }];
    }
    default: {
      const path = join(env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent"), "models.json");
      return [{ path, form: "json", values: leavesOf(piModels(url)) }];
    }
  }
}

function leavesOf(value: object, path: readonly string[] = []): readonly FileValue[] {
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "object" && inner !== null
      ? leavesOf(inner, [...path, name])
      : [{ path: [...path, name], value: `${inner}` }],
  );
}
