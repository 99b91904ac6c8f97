import { claudeSuite } from "./claude-suite.ts";

claudeSuite({
  version: "2.1.325",
  isBound: true,
  hasProbe: false,
  models: [
    "claude-fable-5-2",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-haiku-4-5",
    "claude-opus-4-8",
  ],
});
