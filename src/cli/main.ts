#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { readArguments } from "./arguments.ts";
import { type Output, up } from "./up.ts";
import { exitCodes, usage } from "./usage.ts";

const output: Output = {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
};

// Not process.exit: what was written to a pipe must still arrive.
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const invocation = readArguments(args);
  switch (invocation.verb) {
    case "up":
      return await up(version(), output);
    case "help":
      output.out(usage());
      return exitCodes.ok;
    case "version":
      output.out(version());
      return exitCodes.ok;
    case "misused":
      output.err(`${invocation.problem}\n\n${usage()}`);
      return exitCodes.usage;
  }
}

/** package.json lies two folders up from here in src and in dist alike: one place holds the version. */
function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
