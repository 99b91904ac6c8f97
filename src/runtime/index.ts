export { type AgentActivation, type PendingActivation, type Priority, priorities } from "./activation.ts";
export { type Agent, type SpokenText, whenMentioned } from "./agent.ts";
export type { AgentApproval, DecisionOptions, DecisionResult } from "./approvals.ts";
export { createSpace, type SpaceOptions } from "./open-space.ts";
export type { RenderedChunk, RenderedContext, RenderedMessage } from "./prompt/rendered-context.ts";
export type { WindowSize } from "./prompt/visible-frames.ts";
export type {
  CacheMark,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelTool,
  Provider,
  ProviderAskOptions,
  WireBlock,
} from "./provider.ts";
export {
  type AnthropicClient,
  type AnthropicOptions,
  anthropicProvider,
} from "./providers/anthropic-provider.ts";
export {
  type AwsCredentials,
  type BedrockClient,
  type BedrockOptions,
  bedrockProvider,
} from "./providers/bedrock-provider.ts";
export { type RetryOptions, withRetries } from "./providers/retries.ts";
export {
  humanProvider,
  type Script,
  type ScriptedReply,
  scriptedProvider,
  toolCall,
} from "./providers/scripted-provider.ts";
export { type Adapter, Space } from "./space.ts";
export { SpaceError } from "./space-error.ts";
export type { EventOf, SpaceEvent } from "./space-events.ts";
export type { SpaceInput } from "./space-input.ts";
export type { SpaceSpend } from "./space-spend.ts";
export { StreamHandle } from "./stream-handle.ts";
export {
  defineTool,
  type ObjectSchema,
  type Schema,
  type Tool,
  type ToolAnswer,
  type ToolRun,
  type ValueOf,
} from "./tool.ts";
