export { isLinkLocal } from "./addresses.ts";
export { configPathOf } from "./config-file.ts";
export { type ModelPrices, type PriceRow, priceRows } from "./price-rows.ts";
export { pricesOf, unknownPrices } from "./prices.ts";
export {
  fileValues,
  loopbackHosts,
  type Mode,
  readSettings,
  type SettingRow,
  type Settings,
  type SettingsResult,
  settingsTable,
} from "./settings.ts";
export { officialUpstreams, type UpstreamSettings } from "./upstreams.ts";
export { type Environment, fileKeyOf } from "./values.ts";
export { type WindowRule, windowOf, windowRules } from "./windows.ts";
