export { type Awareness, defaultAwareness } from "../ledger/index.ts";
export { managedFromTokens } from "./planner/admission.ts";
export { SessionPlanner } from "./planner/session-planner.ts";
export { WithheldRegistry } from "./planner/withheld-registry.ts";
export type { Asker, Question } from "./questions.ts";
export { type Engine, type EngineStatus, startEngine } from "./threads/engine.ts";
export type { EngineOptions } from "./threads/messages.ts";
export { findWindow, type WindowTable } from "./threads/windows.ts";
