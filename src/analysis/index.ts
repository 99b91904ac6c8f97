export type { Contents, IdleBlock, NamedWeight, Weight } from "./contents/contents.ts";
export type { SeenAgain } from "./contents/repeats.ts";
export { type Assumptions, assumptions } from "./play/assumptions.ts";
export { blockText } from "./play/block-text.ts";
export { BreakWatch } from "./play/breaks.ts";
export {
  type Bill,
  type CacheRules,
  type Prompt,
  PromptCache,
  type PromptUnit,
  promptAfter,
} from "./play/cache.ts";
export { ExpandCharge } from "./play/charge.ts";
export { ClientWriter, clientForm } from "./play/client.ts";
export { identifiersIn, standingIn } from "./play/identifiers.ts";
export { messageTokens } from "./play/message-tokens.ts";
export { Meter } from "./play/meter.ts";
export { MissWatch } from "./play/misses.ts";
export { NameBook, shownNames } from "./play/name-book.ts";
export { nonce, Player } from "./play/player.ts";
export { PromptReader } from "./play/prompt-reader.ts";
export { type Playable, type Playing, playable, playSession, usualWay, type Way } from "./play/session.ts";
export type { ClientRequest, Priced } from "./play/stream.ts";
export {
  asPriced,
  billCost,
  type Costs,
  costsOf,
  extraPercent,
  median,
  ownParts,
  type Question,
  type SessionCost,
  sum,
} from "./play/sums.ts";
export { type SizedUnit, Sizer } from "./play/units.ts";
export {
  type LinePoint,
  reportSession,
  type SessionReport,
  type Simulated,
  type Spent,
} from "./session-report.ts";
export { type Dollars, type Totals, totalsOf } from "./totals.ts";
