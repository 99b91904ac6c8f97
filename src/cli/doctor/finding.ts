/** What a check found: fine, worth a look, or broken. Whatever is not fine has a way out. */
export type Finding =
  | { readonly about: string; readonly result: "ok"; readonly says: string }
  | {
      readonly about: string;
      readonly result: "warn" | "fail";
      readonly says: string;
      readonly fix: string;
    };

export function fine(about: string, says: string): Finding {
  return { about, result: "ok", says };
}

export function warned(about: string, says: string, fix: string): Finding {
  return { about, result: "warn", says, fix };
}

export function broken(about: string, says: string, fix: string): Finding {
  return { about, result: "fail", says, fix };
}
