export { assumedWindow, type Budget, budgetOf } from "./budget.ts";
export { type Calibration, type EstimatedPrompt, noCalibration, observe, rateFor } from "./calibrate.ts";
export { estimateOverhead, estimatePart, estimateText, estimateTokens, type TokenPart } from "./estimate.ts";
export { type Forecast, forecastOf } from "./forecast.ts";
export { imageHead } from "./image-tokens.ts";
export { type ExactCounter, loadO200k } from "./o200k.ts";
export { sampledTokens, TokenCounter, unitTokens } from "./unit-tokens.ts";
