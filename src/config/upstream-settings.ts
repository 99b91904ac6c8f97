import { isLinkLocal } from "./link-local.ts";
import type { SettingValues } from "./setting-values.ts";

/** The addresses to which requests are relayed. */
export type UpstreamSettings = {
  readonly anthropic: URL;
  readonly openai: URL;
  readonly gemini: URL;
  readonly bedrock: URL;
  /** Upstreams from the config file, reached by `/u/<name>`. */
  readonly named: ReadonlyMap<string, URL>;
};

export const officialUpstreams = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com",
  gemini: "https://generativelanguage.googleapis.com",
  bedrock: "https://bedrock-runtime.us-east-1.amazonaws.com",
} as const;

type UpstreamsInput = {
  readonly values: SettingValues;
  readonly named: ReadonlyMap<string, string>;
  readonly problems: string[];
};

export function readUpstreams({ values, named, problems }: UpstreamsInput): UpstreamSettings {
  const read = (name: keyof typeof officialUpstreams): URL => {
    const variable = `APERTURE_UPSTREAM_${name.toUpperCase()}`;
    const text = values.get(variable) ?? officialUpstreams[name];
    return readUrl({ text, label: values.label(variable), problems }) ?? new URL(officialUpstreams[name]);
  };
  const [anthropic, openai, gemini, bedrock] = [
    read("anthropic"),
    read("openai"),
    read("gemini"),
    read("bedrock"),
  ];
  const namedUrls = [...named].flatMap(([name, text]): [string, URL][] => {
    const url = readUrl({ text, label: `upstreams.${name} in the config file`, problems });
    return url === null ? [] : [[name, url]];
  });
  return { anthropic, openai, gemini, bedrock, named: new Map(namedUrls) };
}

type UrlInput = { readonly text: string; readonly label: string; readonly problems: string[] };

/** The message does not repeat the URL, because users paste keys into URLs. */
function readUrl({ text, label, problems }: UrlInput): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const problem = url === null ? "must be a URL such as https://api.example.com" : urlProblem(url);
  if (problem !== null) problems.push(`${label} ${problem}.`);
  return problem === null ? url : null;
}

function urlProblem(url: URL): string | null {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must start with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.search !== "" || url.hash !== "") return "must not have a query or a fragment";
  if (isLinkLocal(url.hostname) || url.hostname === "metadata.google.internal") {
    return "must not be a link-local address: clouds serve credentials there";
  }
  return null;
}

/** A request that is relayed to Aperture itself would be relayed without end. */
export function isOwnAddress(
  url: URL,
  own: { readonly hosts: readonly string[]; readonly port: number },
): boolean {
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return port === own.port && own.hosts.includes(url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase());
}
