export {
  type Cut,
  chooseCut,
  type PathPiece,
  pressureReason,
  removedTokensMin,
  tokensToFree,
} from "./choose-cut.ts";
export { ttlOf } from "./default-ttl.ts";
export { isMemoryKept, mayModelChangeMemory } from "./kept-memory.ts";
export {
  billError,
  isCacheCold,
  type ModelPrices,
  type Money,
  measuredInput,
  moneyOf,
  promptPrice,
  withLongCache,
} from "./price.ts";
export { type RewriteBill, requestsExpected, rewriteBill } from "./price-rewrite.ts";
export { type ArrivedBlock, StreamPolicy, type ToolInvocation } from "./stream-policy.ts";
