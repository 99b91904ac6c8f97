/** The environment as a value: tests and embedders pass their own, nothing here reads the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings as text, whichever of the two sources they come from. The environment wins. */
export type Values = {
  readonly get: (name: string) => string | undefined;
  /** How a message names a setting, so that its reader looks in the right place. */
  readonly label: (name: string) => string;
};

export function valuesOf(env: Environment, file: Environment): Values {
  return {
    get: (name) => valueIn(env, name) ?? valueIn(file, name),
    label: (name) =>
      valueIn(env, name) === undefined && valueIn(file, name) !== undefined
        ? `${fileKeyOf(name)} in the config file`
        : name,
  };
}

/** An empty variable counts as unset: `APERTURE_PORT= npm start` means "the default", as in most tools. */
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
