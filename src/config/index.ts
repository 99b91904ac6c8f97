export { configPathOf } from "./config-file.ts";
export { isLinkLocal } from "./link-local.ts";
export { windowOf, windowRules } from "./model-windows.ts";
export { pricesOf } from "./prices.ts";
export { type Environment, fileKeyOf } from "./setting-values.ts";
export {
  type ConfiguredMode,
  fileValues,
  loopbackHosts,
  readSettings,
  type Settings,
  type SettingsResult,
  settingsTable,
} from "./settings.ts";
export { officialUpstreams } from "./upstream-settings.ts";
