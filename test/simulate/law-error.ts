/** A broken law, by its name. */
export class LawBroken extends Error {}

export function failLaw(law: string, what: string, details: string): never {
  throw new LawBroken(`${law}: ${what}${details === "" ? "" : `\n${details.slice(0, 4_000)}`}`);
}
