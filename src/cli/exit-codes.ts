/** Exit codes are part of the interface: scripts rely on them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  warned: 3,
  missing: 4,
  stopped: 5,
  refused: 6,
  storage: 7,
  unusable: 126,
  unfound: 127,
  interrupted: 130,
} as const;

/** The meaning of every code, for the help and the reference. `run` exits with the client's code instead. */
export const exitMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.ok, "success"],
  [exitCodes.failed, "failure, or doctor found something broken"],
  [exitCodes.usage, "invalid arguments or settings"],
  [exitCodes.warned, "doctor found only warnings"],
  [exitCodes.missing, "no such session, request, block or message"],
  [exitCodes.stopped, "Aperture is not running"],
  [exitCodes.refused, "Aperture rejected the token"],
  [exitCodes.storage, "the store cannot be read at the moment"],
  [exitCodes.unusable, "run: the client could not be started"],
  [exitCodes.unfound, "run: the client was not found"],
  [exitCodes.interrupted, "interrupted"],
];
