export type { AnswerUsage } from "./answer-message.ts";
export { knownBetas } from "./betas.ts";
export type { BindingMode } from "./binding.ts";
export type { BodySplit } from "./delivery-steps.ts";
export { demoModelLike, demoModelName } from "./demo/demo-agent.ts";
export { type DemoModel, startDemoModel } from "./demo/demo-server.ts";
export type { JsonObject } from "./json-text.ts";
export { call, type ModelReply, type ReplyBlock, type ScriptedModel, say, script } from "./model-reply.ts";
export type { ContentBlock, ParsedMessage, ParsedRequest } from "./parsed-request.ts";
export type { AgentStep } from "./prompt-steps.ts";
export type { RawRequest, ReadResult } from "./read-raw-request.ts";
export type { RequestProblem } from "./request-problem.ts";
export { type AgentOptions, type AgentRule, ruleAgent } from "./rule-agent.ts";
export {
  type ClientTool,
  ScriptedClient,
  type ScriptedClientOptions,
} from "./scripted-client.ts";
export { type ScriptMessage, stepModel } from "./step-model.ts";
export { type CheckedBody, type CheckVerdict, strictChecker } from "./strict-checker.ts";
export { type CoreAnswer, type StrictCore, type StrictCoreOptions, strictCore } from "./strict-core.ts";
export { type StrictUpstream, type StrictUpstreamOptions, startStrictUpstream } from "./strict-upstream.ts";
export type { UpstreamExchange, UpstreamRequest } from "./upstream-exchange.ts";
export {
  type FaultChooser,
  internalError,
  overloaded,
  rateLimited,
  tooLarge,
  type UpstreamFault,
} from "./upstream-faults.ts";
