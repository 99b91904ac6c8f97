import { claudeFormat } from "./write-claude.ts";
import { codexFormat } from "./write-codex.ts";
import { piFormat } from "./write-pi.ts";

/** The clients that can continue a session from a file that we write. */
export const transcriptFormats = { claude: claudeFormat, codex: codexFormat, pi: piFormat } as const;
