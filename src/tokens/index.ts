export { type Budget, type BudgetAsked, budgetOf } from "./budget.ts";
export {
  type Asked,
  type Calibration,
  freshLine,
  noCalibration,
  observe,
  predict,
  promptOf,
  rateFor,
  type Seen,
} from "./calibrate.ts";
export { estimateOverhead, estimatePart, estimateText, estimateTokens, type Part } from "./estimate.ts";
export { type Family, familyOf } from "./family.ts";
export { type Forecast, type ForecastAsked, forecastOf } from "./forecast.ts";
export { imageHead, imageSize, imageTokens } from "./image.ts";
export { type Counter, loadO200k, usesO200k } from "./o200k.ts";
