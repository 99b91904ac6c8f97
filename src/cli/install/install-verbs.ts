import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import type { ClientName } from "../launch/client-addresses.ts";
import { isQuiet, type ReadyCall, reportProblem, type VerbCall } from "../verb-call.ts";
import { installClient } from "./install-client.ts";
import { recordFileOf } from "./install-record.ts";
import { uninstallClient } from "./uninstall-client.ts";

export async function install(call: ReadyCall): Promise<number> {
  const { system, api, screen } = call;
  const client = call.operands[0] as ClientName; // the parser accepts no other word
  const result = installClient({ client, url: api.url, system });
  if (!result.ok) return reportProblem(call, result.problem);
  const { written, replaced } = result.value;
  if (wantsJson(call)) {
    const backup = recordFileOf(client, system);
    return printJson(call, JSON.stringify({ v: 1, client, url: api.url, written, backup }));
  }
  const where = written.length === 0 ? "already installed" : `written to ${written.join(", ")}`;
  screen.out(`${client} uses ${api.url}: ${where}`);
  if (isQuiet(call)) return exitCodes.ok;
  for (const { name, value } of replaced) screen.err(`${name} was ${printable(value, 200)}`);
  const isUp = (await api.text("/healthz")).ok;
  if (!isUp) screen.err(`${client} now needs a running Aperture: \`aperture up --detach\` starts one.`);
  screen.err(`\`aperture uninstall ${client}\` restores the settings.`);
  return exitCodes.ok;
}

/** Works while Aperture is stopped, and with invalid settings. */
export function uninstall(call: VerbCall): number {
  const { system, screen, flags } = call;
  const client = call.operands[0] as ClientName; // the parser accepts no other word
  const result = uninstallClient({ client, system, isClean: flags.has("clean") });
  if (!result.ok) return reportProblem(call, result.problem);
  const { restored, cleaned } = result.value;
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, client, restored, cleaned }));
  for (const path of restored) screen.out(`${path}: restored`);
  for (const path of cleaned) screen.out(`${path}: changed since, so only the address was removed`);
  if (restored.length + cleaned.length === 0 && !isQuiet(call)) {
    screen.err(`Aperture has nothing in the settings of ${client}.`);
  }
  return exitCodes.ok;
}
