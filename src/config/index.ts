export {
  type Environment,
  type Mode,
  readSettings,
  type SettingRow,
  type Settings,
  type SettingsResult,
  settingsTable,
} from "./settings.ts";
