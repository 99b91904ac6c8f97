import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { piModels, providerAddresses } from "./client-addresses.ts";
import { clientOf } from "./client-environment.ts";

export type ClientArguments = {
  /** The arguments before the user's own. */
  readonly args: readonly string[];
  /** Removes files that only this client needed. */
  readonly end: () => void;
};

const nothing: ClientArguments = { args: [], end: () => undefined };

/** Clients that read no address from the environment get it on their command line. */
export function clientArguments(program: string, url: string): ClientArguments {
  switch (clientOf(program)) {
    case "codex":
      return { ...nothing, args: ["-c", `openai_base_url=${JSON.stringify(providerAddresses(url).openai)}`] };
    case "pi":
      return piArguments(url);
    default:
      return nothing;
  }
}

/** pi takes addresses from an extension. This one exists as long as the client runs. */
function piArguments(url: string): ClientArguments {
  const folder = mkdtempSync(join(tmpdir(), "aperture-pi-"));
  const file = join(folder, "aperture.mjs");
  const providers = JSON.stringify(piModels(url).providers);
  const source = `export default (pi) => {
  for (const [name, provider] of Object.entries(${providers})) pi.registerProvider(name, provider);
};\n`;
  writeFileSync(file, source, { mode: 0o600 });
  return { args: ["-e", file], end: () => rmSync(folder, { recursive: true, force: true }) };
}
