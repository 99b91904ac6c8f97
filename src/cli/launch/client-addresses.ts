/** The clients that Aperture knows, and the addresses that send them through it. */
export const clientNames = ["claude", "codex", "gemini", "opencode", "pi"] as const;
export type ClientName = (typeof clientNames)[number];

export type ClientVariables = {
  readonly variables: Readonly<Record<string, string>>;
  /** A limit of the variables, for the user; null if they are enough. */
  readonly remark: string | null;
};

export function isClientName(word: string): word is ClientName {
  return clientNames.some((name) => name === word);
}

/** The base URL of each provider behind our address, with the path that its clients expect. */
export function providerAddresses(url: string) {
  return {
    anthropic: url,
    anthropicV1: `${url}/v1`,
    openai: `${url}/openai/v1`,
    gemini: `${url}/gemini`,
    geminiV1: `${url}/gemini/v1beta`,
  } as const;
}

export function clientVariables(client: ClientName, url: string): ClientVariables {
  const { anthropic, openai, gemini } = providerAddresses(url);
  switch (client) {
    case "claude":
      return { variables: { ANTHROPIC_BASE_URL: anthropic }, remark: null };
    case "codex":
      return { variables: { OPENAI_BASE_URL: openai }, remark: codexRemark };
    case "gemini":
      return { variables: { GOOGLE_GEMINI_BASE_URL: gemini }, remark: geminiRemark };
    case "opencode":
      return { variables: { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url)) }, remark: null };
    default:
      return { variables: { ANTHROPIC_BASE_URL: anthropic }, remark: piRemark };
  }
}

const codexRemark =
  "Newer versions of codex read no address from the environment. `aperture run codex` and `aperture install codex` work with them too.";
const geminiRemark =
  "gemini uses it only with an API key: security.auth.selectedType must be gemini-api-key in its settings.json.";
const piRemark =
  "pi reads no address from the environment. Use `aperture run pi`, or `aperture install pi` to make it permanent.";

/** The config that opencode merges with its others. */
export function opencodeConfig(url: string) {
  const { anthropicV1, openai, geminiV1 } = providerAddresses(url);
  const at = (baseURL: string) => ({ options: { baseURL } });
  return { provider: { anthropic: at(anthropicV1), openai: at(openai), google: at(geminiV1) } };
}

/** The content of pi's models.json. */
export function piModels(url: string) {
  const { anthropic, openai, geminiV1 } = providerAddresses(url);
  return {
    providers: {
      anthropic: { baseUrl: anthropic },
      openai: { baseUrl: openai },
      google: { baseUrl: geminiV1 },
    },
  };
}
