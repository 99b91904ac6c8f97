/** Compares plain data (anything JSON can hold) by value. */
export function sameData(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && sameData((a as ComparedFields)[key], (b as ComparedFields)[key]),
  );
}

type ComparedFields = Readonly<Record<string, unknown>>;
