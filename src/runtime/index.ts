export { type AgentActivation, type Pending, type Priority, priorities } from "./activation.ts";
export { type Agent, type Said, whenMentioned } from "./agent.ts";
export type { Decided, Decision, Waiting } from "./approvals.ts";
export type { EventOf, SpaceEvent } from "./events.ts";
export type { Happening } from "./happening.ts";
export { createSpace, type SpaceOptions } from "./open-space.ts";
export type { RenderedMessage } from "./path.ts";
export type {
  Asking,
  Mark,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelTool,
  Provider,
  WireBlock,
} from "./provider.ts";
export { type AnthropicClient, type AnthropicOptions, anthropicProvider } from "./providers/anthropic.ts";
export {
  type AwsCredentials,
  type BedrockClient,
  type BedrockOptions,
  bedrockProvider,
} from "./providers/bedrock.ts";
export { type RetryOptions, withRetries } from "./providers/retries.ts";
export type { RenderedChunk, RenderedContext } from "./rendered-context.ts";
export { calling, humanProvider, type Script, type ScriptedReply, scriptedProvider } from "./scripted.ts";
export { type Adapter, Space } from "./space.ts";
export { SpaceError } from "./space-error.ts";
export type { Spend } from "./spend.ts";
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
export type { WindowSize } from "./window.ts";
