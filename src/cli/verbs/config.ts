import { join } from "node:path";
import { configPathOf, fileKeyOf, settingsTable } from "../../config/index.ts";
import { type Call, giveUp, isQuiet } from "../call.ts";
import { changeConfig } from "../config-change.ts";
import { printable } from "../format/printable.ts";
import { aligned } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { environmentWith, valuesNow } from "../load-settings.ts";
import { nearest } from "../nearest.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { stateFolderOf } from "../places.ts";
import { tokenFileOf } from "../token.ts";
import { exitCodes } from "../usage.ts";

/** Works with settings that cannot be used: this is how they are mended. */
export function config(call: Call): number {
  const [what = "get", name, value] = call.operands;
  switch (what) {
    case "get":
      return get(call, name);
    case "set":
      return set(call, { name, value });
    case "unset":
      return set(call, { name, value: null });
    case "path":
      return paths(call);
    default: {
      const message = `config takes get, set, unset or path, not "${printable(what, 40)}".`;
      return giveUp(call, { exit: exitCodes.usage, message });
    }
  }
}

/** `mode`, `data-dir`, `dataDir` and `APERTURE_DATA_DIR` all name a setting. */
function settingNamed(word: string): Outcome<string> {
  const plain = (text: string) =>
    text
      .replace(/^APERTURE_/, "")
      .replace(/[-_]/g, "")
      .toLowerCase();
  const found = settingsTable.find(({ name }) => plain(name) === plain(word));
  if (found !== undefined) return succeed(found.name);
  const meant = nearest(
    word,
    settingsTable.map(({ name }) => fileKeyOf(name)),
  );
  const hint = meant === null ? "`aperture config get` lists them" : `did you mean ${meant}?`;
  return stop(exitCodes.usage, `There is no setting ${printable(word, 60)}; ${hint}`);
}

type Row = { readonly name: string; readonly value: string | null; readonly from: string };

function get(call: Call, word: string | undefined): number {
  const named = word === undefined ? null : settingNamed(word);
  if (named !== null && !named.ok) return giveUp(call, named.problem);
  const rows = rowsOf(call).filter(({ name }) => named === null || name === named.value);
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
  for (const line of aligned(cells, call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

/** A secret is said to be there, and not what it is: this ends up in screenshots. */
function rowsOf(call: Call): readonly Row[] {
  const env = environmentWith(call.world.env, call.flags);
  const { ofFile } = valuesNow({ env, home: call.world.home });
  return settingsTable.map(({ name, defaultText }) => {
    const own = env[name]?.trim() || undefined;
    const value = own ?? ofFile[name];
    if (value === undefined) {
      return { name, value: defaultText === "none" ? null : defaultText, from: "the default" };
    }
    const from = own === undefined ? "the config file" : "the environment or an option";
    return { name, value: name === "APERTURE_TOKEN" ? "(set)" : value, from };
  });
}

type Change = { readonly name: string | undefined; readonly value: string | null | undefined };

function set(call: Call, { name: word, value }: Change): number {
  if (word === undefined || value === undefined) {
    return giveUp(call, { exit: exitCodes.usage, message: "Write `aperture config set NAME VALUE`." });
  }
  const name = settingNamed(word);
  if (!name.ok) return giveUp(call, name.problem);
  const changed = changeConfig(call, { name: name.value, value });
  if (!changed.ok) return giveUp(call, changed.problem);
  if (!isQuiet(call)) {
    call.screen.err(`${fileKeyOf(name.value)} ${value === null ? "unset" : "set"} in ${changed.value}`);
    if ((call.world.env[name.value] ?? "") !== "") {
      call.screen.err(`${name.value} in the environment still stands above it.`);
    }
    call.screen.err("A running Aperture reads it at its next start.");
  }
  return exitCodes.ok;
}

function paths(call: Call): number {
  const { world, read, flags } = call;
  const file = configPathOf(environmentWith(world.env, flags), world.home);
  const state = stateFolderOf(world);
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
    for (const line of aligned(cells, call.screen.paint)) call.screen.out(line);
  }
  return exitCodes.ok;
}
