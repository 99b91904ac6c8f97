import { type ClaudeTraits, claudeSuite } from "./claude-suite.ts";
import { type ClaudeVersion, claudeVersions } from "./install.ts";

const traits: Readonly<Record<ClaudeVersion, Omit<ClaudeTraits, "version">>> = {
  "2.1.325": {
    isBound: true,
    hasProbe: false,
    models: [
      "claude-fable-5-2",
      "claude-sonnet-5-5",
      "claude-haiku-5-5",
      "claude-haiku-4-5",
      "claude-opus-4-8",
    ],
  },
  "2.1.197": {
    isBound: false,
    hasProbe: true,
    models: ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-6"],
  },
};

for (const version of claudeVersions) claudeSuite({ version, ...traits[version] });
