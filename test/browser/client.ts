import { type Clients, installClients } from "../clients/install.ts";
import { type SdkStep, sdks } from "../clients/managed-sdk.ts";
import { startChild } from "../support/child.ts";

/** A program made with @anthropic-ai/sdk, in a process of its own, that keeps one conversation. */
export type Client = {
  /** Sends a prompt, follows it until the model calls no tool any more, and answers with its last words. */
  readonly say: (prompt: string, how?: Partial<SdkStep>) => Promise<string>;
  readonly close: () => Promise<void>;
};

export type ClientOptions = {
  readonly url: string;
  /** What the session is called by: two clients with the same name share it. */
  readonly name: string;
  /** What stands below the first prompt. Small sessions are watched, not managed. */
  readonly bulk?: string;
  /** What its tool `read` finds, by path. */
  readonly files?: Readonly<Record<string, string>>;
};

let clients: Promise<Clients> | null = null;

export async function startClient({
  url,
  name,
  bulk = linesOf(1_100),
  files,
}: ClientOptions): Promise<Client> {
  clients ??= installClients();
  const { program, modules } = sdks["@anthropic-ai/sdk"];
  const addresses = modules.map((await clients).moduleUrl);
  const child = startChild(program, [...addresses, "{}"], "pipe");
  let said = 0;
  return {
    say: async (prompt, how = {}) => {
      const at = said;
      const headers = { "x-aperture-session": name };
      const words = at === 0 ? `${prompt}\n${bulk}` : prompt;
      const step = { prompt: words, url, headers, streams: true, files, ...how };
      said += 1;
      child.process.stdin?.write(`${JSON.stringify(step)}\n`);
      const line = await child.said((each) => (JSON.parse(each) as { readonly step: unknown }).step === at);
      if (line === null) throw new Error(`the client ended: ${(await child.ended).stderr}`);
      const value = String((JSON.parse(line) as { readonly value: unknown }).value);
      if (/^\d\d\d /.test(value)) throw new Error(`the client was told ${value}`);
      return value;
    },
    close: async () => {
      child.process.stdin?.end();
      await child.ended;
    },
  };
}

const words = "amber basin cedar delta ember fjord grove haven inlet jetty knoll ledge mesa nook".split(" ");

/** So many lines of some 70 characters, no two alike. */
export function linesOf(count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const line = Array.from({ length: 10 }, (__, n) => words[(at * 7 + n * (at % 11) + n) % words.length]);
    return `${at}: ${line.join(" ")}`;
  }).join("\n");
}
