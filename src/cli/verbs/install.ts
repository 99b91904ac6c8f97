import { type Call, giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printable } from "../format/printable.ts";
import { install as installFor } from "../install/install.ts";
import { recordFileOf } from "../install/record.ts";
import { uninstall as uninstallFrom } from "../install/uninstall.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type ClientName, clientNames, isClientName } from "../launch/wiring.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";

export async function install(call: ReadyCall): Promise<number> {
  const client = clientIn(call);
  if (!client.ok) return giveUp(call, client.problem);
  const { world, api, screen } = call;
  const done = installFor({ client: client.value, url: api.url, world });
  if (!done.ok) return giveUp(call, done.problem);
  const { written, replaced } = done.value;
  if (wantsJson(call)) {
    const backup = recordFileOf(client.value, world);
    return printJson(call, JSON.stringify({ v: 1, client: client.value, url: api.url, written, backup }));
  }
  const says = written.length === 0 ? "was there already" : `written to ${written.join(", ")}`;
  screen.out(`${client.value} goes through ${api.url}: ${says}`);
  if (isQuiet(call)) return exitCodes.ok;
  for (const { name, value } of replaced) screen.err(`${name} was ${printable(value, 200)}`);
  const isUp = (await api.text("/healthz")).ok;
  if (!isUp) screen.err(`${client.value} needs a running Aperture now: \`aperture up --detach\` starts one.`);
  screen.err(`\`aperture uninstall ${client.value}\` puts everything back as it was.`);
  return exitCodes.ok;
}

/** Works with a proxy that is down and with settings that cannot be used. */
export function uninstall(call: Call): number {
  const client = clientIn(call);
  if (!client.ok) return giveUp(call, client.problem);
  const { world, screen, flags } = call;
  const done = uninstallFrom({ client: client.value, world, isClean: flags.has("clean") });
  if (!done.ok) return giveUp(call, done.problem);
  const { restored, cleaned } = done.value;
  if (wantsJson(call))
    return printJson(call, JSON.stringify({ v: 1, client: client.value, restored, cleaned }));
  for (const path of restored) screen.out(`${path}: as it was`);
  for (const path of cleaned) screen.out(`${path}: only the address was taken out; it was changed since`);
  if (restored.length + cleaned.length === 0 && !isQuiet(call)) {
    screen.err(`Nothing of Aperture was in the settings of ${client.value}.`);
  }
  return exitCodes.ok;
}

function clientIn({ operands }: Call): Outcome<ClientName> {
  const [name = ""] = operands;
  if (isClientName(name)) return succeed(name);
  return stop(
    exitCodes.usage,
    `"${printable(name, 40)}" is no client known here: ${clientNames.join(", ")}.`,
  );
}
