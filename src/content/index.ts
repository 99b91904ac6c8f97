export {
  answeredCallId,
  callLabel,
  isSigned,
  reasoningOutcome,
  storedText,
  toolLabel,
} from "./stored-text.ts";
export { searchableText } from "./unit-text.ts";
export { parseJsonBytes, plainTextIn, wireTypeOf } from "./wire-json.ts";
