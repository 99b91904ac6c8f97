import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../call.ts";
import { readJsonValue } from "../install/edit-json.ts";
import { valueAt } from "../install/install.ts";
import { plansFor } from "../install/plan.ts";
import { type ClientName, clientNames, wiringOf } from "../launch/wiring.ts";

/** Somewhere that tells a client which address to use. */
export type Wiring = {
  readonly client: ClientName;
  readonly where: string;
  readonly name: string;
  /** As it stands there; null: the place cannot be read. */
  readonly value: string | null;
  readonly from: "environment" | "own settings" | "settings of the folder";
};

/** Every place from which a client we know may take an address, as far as one is there. */
export function wiringsOf(world: World): readonly Wiring[] {
  return [
    ...clientNames.flatMap((client) => fromEnvironment(client, world)),
    ...clientNames.flatMap((client) => fromFiles(client, world)),
    ...fromFolder(world),
  ];
}

function fromEnvironment(client: ClientName, { env }: World): readonly Wiring[] {
  // What only some program of this client reads would be blamed on the others.
  if (client === "opencode" || client === "pi") return [];
  return Object.keys(wiringOf(client, "").variables).flatMap((name): readonly Wiring[] => {
    const value = env[name];
    if (value === undefined || value === "") return [];
    return [{ client, where: "the environment", name, value, from: "environment" }];
  });
}

function fromFiles(client: ClientName, world: World): readonly Wiring[] {
  return plansFor(client, "", world).flatMap((plan): readonly Wiring[] => {
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

/** Claude Code reads settings of the folder it is started in as well. */
function fromFolder({ cwd, home }: World): readonly Wiring[] {
  const files = ["settings.json", "settings.local.json"].map((name) => join(cwd, ".claude", name));
  return files.flatMap((where): readonly Wiring[] => {
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
