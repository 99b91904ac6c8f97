export type Invocation =
  | { readonly verb: "up" | "help" | "version" }
  | { readonly verb: "misused"; readonly problem: string };

/** `args` is what follows the program's name. No verb at all means `up`. */
export function readArguments(args: readonly string[]): Invocation {
  if (args.includes("--help") || args.includes("-h")) return { verb: "help" };
  if (args.includes("--version")) return { verb: "version" };
  const [verb = "up", extra] = args;
  if (verb !== "up" && verb !== "help" && verb !== "version") {
    return { verb: "misused", problem: `unknown ${verb.startsWith("-") ? "option" : "verb"}: ${verb}` };
  }
  return extra === undefined ? { verb } : { verb: "misused", problem: `unexpected argument: ${extra}` };
}
