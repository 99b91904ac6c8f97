import { join } from "node:path";
import type { Environment } from "../../config/index.ts";

/** Where clients keep their transcripts, unless they were told otherwise. */
export function transcriptPlaces(env: Environment, home: string): readonly string[] {
  const place = (variable: string, folder: string): string => env[variable] || join(home, folder);
  const codex = place("CODEX_HOME", ".codex");
  return [
    join(place("CLAUDE_CONFIG_DIR", ".claude"), "projects"),
    join(codex, "sessions"),
    join(codex, "archived_sessions"),
    join(home, ".gemini", "tmp"),
  ];
}
