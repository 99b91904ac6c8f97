export { type AppOptions, type RunningApp, startApp } from "./app.ts";
export { readArguments } from "./arguments.ts";
export { type Output, up } from "./up.ts";
export { exitCodes, exitMeanings, usage } from "./usage.ts";
export { verbGroups } from "./verb-groups.ts";
export { type Flag, flagText, globalFlags, type Verb, verbTable } from "./verb-table.ts";
