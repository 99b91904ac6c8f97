export {
  type Environment,
  loopbackHosts,
  type Mode,
  readSettings,
  type SettingRow,
  type Settings,
  type SettingsResult,
  settingsTable,
} from "./settings.ts";
