import { fail, type Result } from "../../base/index.ts";
import type { GatheredSession } from "../../transcripts/index.ts";
import type { Library } from "../read/questions.ts";
import type { Imported } from "./imported.ts";
import { Importer } from "./importer.ts";

/** Into the store of an Aperture that runs: whoever has the session open reads it again. */
export async function importSession(library: Library, bytes: Uint8Array): Promise<Result<Imported>> {
  const read = readSession(bytes);
  if (read === null) return fail("AP_INPUT_INVALID", { problem: "it is no session from a transcript" });
  const { store, windowOf } = library;
  const imported = await new Importer({ store, windowOf, secrets: read.secrets }).add(read.gathered);
  if (imported.ok) library.forget?.(imported.value.session);
  return imported;
}

type Read = { readonly gathered: GatheredSession; readonly secrets: readonly string[] };

/** Our own command line has read the transcript; only whether this is such a thing is looked at here. */
function readSession(bytes: Uint8Array): Read | null {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString("utf8")) as Partial<Read> | null;
    const { gathered, secrets } = value ?? {};
    const isSession = typeof gathered?.recording?.id === "string" && Array.isArray(gathered.recording.turns);
    const isTold = Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string");
    return isSession && isTold ? { gathered, secrets } : null;
  } catch {
    return null;
  }
}
