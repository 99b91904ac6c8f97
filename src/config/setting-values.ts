/** The environment as a value: callers pass it, and nothing here reads the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings as text from both sources. The environment wins over the file. */
export type SettingValues = {
  readonly get: (name: string) => string | undefined;
  /** The setting's name in a message, with the source in which to look for it. */
  readonly label: (name: string) => string;
};

export function valuesOf(env: Environment, file: Environment): SettingValues {
  return {
    get: (name) => valueIn(env, name) ?? valueIn(file, name),
    label: (name) =>
      valueIn(env, name) === undefined && valueIn(file, name) !== undefined
        ? `${fileKeyOf(name)} in the config file`
        : name,
  };
}

/** An empty variable counts as unset, as in most tools: `APERTURE_PORT= npm start` uses the default. */
export function valueIn(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

/** `APERTURE_DATA_DIR` is `dataDir` in the config file. */
export function fileKeyOf(name: string): string {
  return name
    .replace(/^APERTURE_/, "")
    .toLowerCase()
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
