import { join } from "node:path";
import type { World } from "../call.ts";
import { addressesOf, type ClientName, opencodeConfig, piModels } from "../launch/wiring.ts";
import { configFolderOf } from "../places.ts";

/** A value at a path of names in a JSON file. */
export type JsonValue = { readonly path: readonly string[]; readonly value: string };
/** One file of a client, and what has to stand in it. */
export type FilePlan = {
  readonly path: string;
  readonly form: "json" | "toml" | "env";
  readonly values: readonly JsonValue[];
  /** Set only where nothing is said: whoever chose otherwise keeps that. */
  readonly unlessSet?: true;
};

type Place = Pick<World, "env" | "home">;

/** What each client reads, as its makers document it. */
export function plansFor(client: ClientName, url: string, place: Place): readonly FilePlan[] {
  const { anthropic, openai, gemini } = addressesOf(url);
  const { env, home } = place;
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
      const path = join(configFolderOf(place), "opencode", "opencode.json");
      return [{ path, form: "json", values: leavesOf(opencodeConfig(url)) }];
    }
    default: {
      const path = join(env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent"), "models.json");
      return [{ path, form: "json", values: leavesOf(piModels(url)) }];
    }
  }
}

function leavesOf(value: object, path: readonly string[] = []): readonly JsonValue[] {
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "object" && inner !== null
      ? leavesOf(inner, [...path, name])
      : [{ path: [...path, name], value: `${inner}` }],
  );
}
