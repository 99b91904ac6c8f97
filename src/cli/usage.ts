import { settingsTable } from "../config/index.ts";

/** Exit codes are part of the interface: scripts rely on them. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

export function usage(): string {
  const width = Math.max(...settingsTable.map(({ name }) => name.length));
  const settings = settingsTable.map(
    ({ name, meaning, defaultText }) => `  ${name.padEnd(width)}  ${meaning} (default: ${defaultText})`,
  );
  return [
    "usage: aperture [up]",
    "",
    "  up          start Aperture in the foreground (the default)",
    "  --help      this text",
    "  --version   the version",
    "",
    "environment:",
    ...settings,
  ].join("\n");
}
