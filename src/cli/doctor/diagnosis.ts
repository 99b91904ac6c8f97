/** The result of a check. A warning or a failure comes with a fix. */
export type Diagnosis =
  | { readonly about: string; readonly result: "ok"; readonly says: string }
  | {
      readonly about: string;
      readonly result: "warn" | "fail";
      readonly says: string;
      readonly fix: string;
    };

export function passed(about: string, says: string): Diagnosis {
  return { about, result: "ok", says };
}

export function warning(about: string, says: string, fix: string): Diagnosis {
  return { about, result: "warn", says, fix };
}

export function failure(about: string, says: string, fix: string): Diagnosis {
  return { about, result: "fail", says, fix };
}
