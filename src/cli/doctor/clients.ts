import type { World } from "../call.ts";
import { printable } from "../format/printable.ts";
import { readRecord } from "../install/record.ts";
import { findProgram } from "../launch/programs.ts";
import { clientNames } from "../launch/wiring.ts";
import { connectProblem, isLoopback, portOf } from "./addresses.ts";
import { broken, type Finding, fine, warned } from "./finding.ts";
import { type Wiring, wiringsOf } from "./wirings.ts";

export type Us = { readonly url: string; readonly isRunning: boolean };

/** Which clients are there, and whether something leads one of them astray. */
export async function checkClients(world: World, us: Us): Promise<readonly Finding[]> {
  const there = clientNames.flatMap((name) => {
    const path = findProgram(name, world);
    return path === null ? [] : [fine(name, path)];
  });
  const none = fine(
    "clients",
    `none of ${clientNames.join(", ")} is on PATH; others start with aperture run`,
  );
  const wired = await Promise.all(wiringsOf(world).map((wiring) => judge(wiring, us)));
  return [...(there.length === 0 ? [none] : there), ...wired, ...moved(world, us)];
}

async function judge(wiring: Wiring, us: Us): Promise<Finding> {
  const { client, where, name, value, from } = wiring;
  if (value === null) return warned(client, `${where} is not valid JSON`, "correct it, or start without it");
  const remove = removalOf(wiring);
  const says = `${name.replace(/^env\./, "")} in ${where} is ${printable(value, 200)}`;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null) return broken(client, `${says}, which is no address`, remove);
  if (isLoopback(url) && portOf(url) === portOf(new URL(us.url))) {
    if (us.isRunning) return fine(client, `${says}, which is this Aperture`);
    return broken(client, `${says}, where Aperture does not run now`, `aperture up --detach, or ${remove}`);
  }
  if (isLoopback(url) && (await connectProblem(url)) !== null) {
    return broken(client, `${says}, where nothing listens`, remove);
  }
  if (from === "environment") {
    return warned(client, `${says}, so only aperture run leads through Aperture`, remove);
  }
  // Claude Code reads its settings again after it was started; the others take what run tells them.
  if (client === "claude") return warned(client, `${says}, and beats what aperture run sets`, remove);
  return fine(client, `${says}; aperture run stands above it`);
}

function removalOf({ client, where, name, from }: Wiring): string {
  if (from === "environment") return `unset ${name}`;
  if (from === "own settings") return `aperture uninstall ${client} --clean`;
  return `remove ${name.replace(/^env\./, "")} from ${where}`;
}

/** Installed for one address while Aperture is configured for another. */
function moved(world: World, us: Us): readonly Finding[] {
  return clientNames.flatMap((client) => {
    const record = readRecord(client, world);
    if (record === null || record.url === us.url) return [];
    const says = `was installed for ${printable(record.url, 120)}, but Aperture is configured for ${us.url}`;
    return [warned(client, says, `aperture install ${client}`)];
  });
}
