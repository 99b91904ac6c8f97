import { resolve } from "node:path";
import type { Call } from "../call.ts";
import { type FoundSession, findSessions } from "./find-files.ts";
import { transcriptPlaces } from "./places.ts";

/** The sessions whose transcripts a call names, else those of all clients; it says where there are none. */
export function askedSessions(
  { operands, screen, world }: Call,
  verb: "analyze" | "import",
): readonly FoundSession[] {
  const isNamed = operands.length > 0;
  const places = isNamed
    ? operands.map((place) => resolve(world.cwd, place))
    : transcriptPlaces(world.env, world.home);
  const { sessions, unread } = findSessions(places, isNamed);
  for (const { path, problem } of unread) screen.err(`${path}: ${problem}`);
  if (sessions.length === 0) {
    const where = places.join(", ");
    screen.err(`There is no transcript in ${where}. Name a file or a folder: aperture ${verb} FILE`);
  }
  return sessions;
}
