import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clientFilePlans } from "../install/client-files.ts";
import { readJsonValue, valueAt } from "../install/edit-settings.ts";
import { type ClientName, clientNames, clientVariables } from "../launch/client-addresses.ts";
import type { SystemInfo } from "../verb-call.ts";

/** A setting that tells a client which address to use. */
export type ConfiguredAddress = {
  readonly client: ClientName;
  readonly where: string;
  readonly name: string;
  /** Null if the file cannot be parsed. */
  readonly value: string | null;
  readonly from: "environment" | "own settings" | "settings of the folder";
};

/** All settings from which a known client may take an address, if they are set. */
export function configuredAddresses(system: SystemInfo): readonly ConfiguredAddress[] {
  return [
    ...clientNames.flatMap((client) => fromEnvironment(client, system)),
    ...clientNames.flatMap((client) => fromFiles(client, system)),
    ...fromFolder(system),
  ];
}

function fromEnvironment(client: ClientName, { env }: SystemInfo): readonly ConfiguredAddress[] {
  // The variables of these clients are read by other programs too, so they prove nothing.
  if (client === "opencode" || client === "pi") return [];
  return Object.keys(clientVariables(client, "").variables).flatMap((name): readonly ConfiguredAddress[] => {
    const value = env[name];
    if (value === undefined || value === "") return [];
    return [{ client, where: "the environment", name, value, from: "environment" }];
  });
}

function fromFiles(client: ClientName, system: SystemInfo): readonly ConfiguredAddress[] {
  return clientFilePlans(client, "", system).flatMap((plan): readonly ConfiguredAddress[] => {
    if (plan.unlessSet === true) return [];
    const text = textOf(plan.path);
    if (text === null) return [];
    const base = { client, where: plan.path, from: "own settings" } as const;
    if (plan.form === "json" && !isJson(text)) return [{ ...base, name: "", value: null }];
    return plan.values.flatMap(({ path }) => {
      const value = valueAt(plan, text, path);
      return value === null || value === "" ? [] : [{ ...base, name: path.join("."), value }];
    });
  });
}

/** Claude Code also reads the settings of the folder in which it starts. */
function fromFolder({ cwd, home }: SystemInfo): readonly ConfiguredAddress[] {
  const files = ["settings.json", "settings.local.json"].map((name) => join(cwd, ".claude", name));
  return files.flatMap((where): readonly ConfiguredAddress[] => {
    const text = where === join(home, ".claude", "settings.json") ? null : textOf(where);
    if (text === null) return [];
    const base = {
      client: "claude",
      where,
      name: "env.ANTHROPIC_BASE_URL",
      from: "settings of the folder",
    } as const;
    if (!isJson(text)) return [{ ...base, value: null }];
    const value = readJsonValue(text, ["env", "ANTHROPIC_BASE_URL"]);
    return value === null || value === "" ? [] : [{ ...base, value }];
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
    return true;
  } catch {
    return false;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
