import { join } from "node:path";
import { configPathOf, fileKeyOf, settingsTable } from "../../config/index.ts";
import { tokenFileOf } from "../api/api-token.ts";
import { nearestWord } from "../args/nearest-word.ts";
import { changeConfig } from "../config-change.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { alignRows } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { configFileValues, environmentWith } from "../load-settings.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { stateFolderOf } from "../user-folders.ts";
import { isQuiet, reportProblem, type VerbCall } from "../verb-call.ts";

/** Works with invalid settings: this verb repairs them. */
export function config(call: VerbCall): number {
  const [action = "get", name, value] = call.operands;
  switch (action) {
    case "get":
      return printSettings(call, name);
    case "set":
      return changeSetting(call, { name, value });
    case "unset":
      return changeSetting(call, { name, value: null });
    default:
      return printPaths(call);
  }
}

/** A setting may be named `mode`, `data-dir`, `dataDir` or `APERTURE_DATA_DIR`. */
function settingNamed(word: string): CliResult<string> {
  const plain = (text: string) =>
    text
      .replace(/^APERTURE_/, "")
      .replace(/[-_]/g, "")
      .toLowerCase();
  const found = settingsTable.find(({ name }) => plain(name) === plain(word));
  if (found !== undefined) return succeed(found.name);
  const meant = nearestWord(
    word,
    settingsTable.map(({ name }) => fileKeyOf(name)),
  );
  const hint = meant === null ? "`aperture config get` lists them" : `did you mean ${meant}?`;
  return stop(exitCodes.usage, `There is no setting ${printable(word, 60)}; ${hint}`);
}

type SettingRowValue = { readonly name: string; readonly value: string | null; readonly from: string };

function printSettings(call: VerbCall, word: string | undefined): number {
  const named = word === undefined ? null : settingNamed(word);
  if (named !== null && !named.ok) return reportProblem(call, named.problem);
  const rows = settingRows(call).filter(({ name }) => named === null || name === named.value);
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, settings: rows }));
  const [only] = rows;
  if (named !== null && only !== undefined) {
    call.screen.out(printable(only.value ?? ""));
    if (!isQuiet(call)) call.screen.err(`${only.name}: ${only.from}`);
    return exitCodes.ok;
  }
  const cells = rows.map(({ name, value, from }) => [
    { text: fileKeyOf(name), style: "bold" as const },
    { text: printable(value ?? "-", 80) },
    { text: from, style: "dim" as const },
  ]);
  for (const line of alignRows(cells, call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

/** The token is never printed, because this output ends up in screenshots. */
function settingRows(call: VerbCall): readonly SettingRowValue[] {
  const env = environmentWith(call.system.env, call.flags);
  const fileValues = configFileValues({ env, home: call.system.home });
  return settingsTable.map(({ name, defaultText }) => {
    const own = env[name]?.trim() || undefined;
    const value = own ?? fileValues[name];
    if (value === undefined) {
      return { name, value: defaultText === "none" ? null : defaultText, from: "the default" };
    }
    const from = own === undefined ? "the config file" : "the environment or an option";
    return { name, value: name === "APERTURE_TOKEN" ? "(set)" : value, from };
  });
}

type SettingChange = { readonly name: string | undefined; readonly value: string | null | undefined };

function changeSetting(call: VerbCall, { name: word, value }: SettingChange): number {
  if (word === undefined || value === undefined) {
    return reportProblem(call, {
      exit: exitCodes.usage,
      message: "Usage: aperture config set NAME VALUE, or aperture config unset NAME.",
    });
  }
  const name = settingNamed(word);
  if (!name.ok) return reportProblem(call, name.problem);
  const changed = changeConfig(call, { name: name.value, value });
  if (!changed.ok) return reportProblem(call, changed.problem);
  if (!isQuiet(call)) {
    call.screen.err(`${fileKeyOf(name.value)} ${value === null ? "unset" : "set"} in ${changed.value}`);
    if ((call.system.env[name.value] ?? "") !== "") {
      call.screen.err(`${name.value} in the environment still overrides it.`);
    }
    call.screen.err("A running Aperture applies it at its next start.");
  }
  return exitCodes.ok;
}

function printPaths(call: VerbCall): number {
  const { system, settingsResult: read, flags } = call;
  const file = configPathOf(environmentWith(system.env, flags), system.home);
  const state = stateFolderOf(system);
  const data: readonly (readonly [string, string])[] = read.ok
    ? [
        ["data", read.settings.dataDir],
        ["token", tokenFileOf(read.settings)],
      ]
    : [];
  const all = [["config", file ?? "-"] as const, ...data, ["log", join(state, "aperture.log")] as const];
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, ...Object.fromEntries(all) }));
  if (isQuiet(call)) call.screen.out(file ?? "-");
  else {
    const cells = all.map(([name, path]) => [{ text: name, style: "bold" as const }, { text: path }]);
    for (const line of alignRows(cells, call.screen.paint)) call.screen.out(line);
  }
  return exitCodes.ok;
}
