import { type Clients, installClients } from "../clients/install.ts";
import { type SdkStep, sdks } from "../clients/managed-sdk.ts";
import { startChild } from "../support/child.ts";

/** A program made with @anthropic-ai/sdk, in a process of its own, that keeps one conversation. */
export type Client = {
  /** Sends a prompt, runs tools until the model stops calling them, and returns its last text. */
  readonly send: (prompt: string, options?: Partial<SdkStep>) => Promise<string>;
  readonly close: () => Promise<void>;
};

export type ClientOptions = {
  readonly url: string;
  /** The id of the session: two clients with the same name share it. */
  readonly name: string;
  /** Text after the first prompt. Aperture manages large sessions only. */
  readonly bulk?: string;
  /** The files of its tool `read`, by path. */
  readonly files?: Readonly<Record<string, string>>;
};

let clients: Promise<Clients> | null = null;

export async function startClient({
  url,
  name,
  bulk = numberedLines(1_100),
  files,
}: ClientOptions): Promise<Client> {
  clients ??= installClients();
  const { program, modules } = sdks["@anthropic-ai/sdk"];
  const addresses = modules.map((await clients).moduleUrl);
  const child = startChild(program, [...addresses, "{}"], "pipe");
  let sent = 0;
  return {
    send: async (prompt, options = {}) => {
      const at = sent;
      const headers = { "x-aperture-session": name };
      const text = at === 0 ? `${prompt}\n${bulk}` : prompt;
      const step = { prompt: text, url, headers, streams: true, files, ...options };
      sent += 1;
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

/** Different lines of about 70 characters. */
export function numberedLines(count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const line = Array.from({ length: 10 }, (__, n) => words[(at * 7 + n * (at % 11) + n) % words.length]);
    return `${at}: ${line.join(" ")}`;
  }).join("\n");
}
