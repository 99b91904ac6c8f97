import { claudeSuite } from "./claude-suite.ts";

claudeSuite({
  version: "2.1.197",
  isBound: false,
  hasProbe: true,
  models: ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-6"],
});
