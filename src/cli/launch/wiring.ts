/** Clients we know by name, and what leads each of them through Aperture. */
export const clientNames = ["claude", "codex", "gemini", "opencode", "pi"] as const;
export type ClientName = (typeof clientNames)[number];

export type Wiring = {
  readonly variables: Readonly<Record<string, string>>;
  /** What the variables alone do not do; null: nothing is missing. */
  readonly remark: string | null;
};

export function isClientName(word: string): word is ClientName {
  return clientNames.some((name) => name === word);
}

/** Where each provider's API is behind our address: with the path that clients put before theirs. */
export function addressesOf(url: string) {
  return {
    anthropic: url,
    anthropicV1: `${url}/v1`,
    openai: `${url}/openai/v1`,
    gemini: `${url}/gemini`,
    geminiV1: `${url}/gemini/v1beta`,
  } as const;
}

export function wiringOf(client: ClientName, url: string): Wiring {
  const { anthropic, openai, gemini } = addressesOf(url);
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
  "Newer versions of codex read no address from the environment; `aperture run codex` and `aperture install codex` reach them too.";
const geminiRemark =
  "gemini follows it with an API key only: security.auth.selectedType must be gemini-api-key in its settings.json.";
const piRemark =
  "pi reads no address from the environment; use `aperture run pi`, or `aperture install pi` for good.";

/** As opencode merges it with what else is configured. */
export function opencodeConfig(url: string) {
  const { anthropicV1, openai, geminiV1 } = addressesOf(url);
  const at = (baseURL: string) => ({ options: { baseURL } });
  return { provider: { anthropic: at(anthropicV1), openai: at(openai), google: at(geminiV1) } };
}

/** As pi reads it from its models.json. */
export function piModels(url: string) {
  const { anthropic, openai, geminiV1 } = addressesOf(url);
  return {
    providers: {
      anthropic: { baseUrl: anthropic },
      openai: { baseUrl: openai },
      google: { baseUrl: geminiV1 },
    },
  };
}
