#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { readArguments } from "./arguments.ts";
import type { Screen, World } from "./call.ts";
import { coloured, plain, wantsColour } from "./format/paint.ts";
import { environmentWith, loadSettings } from "./load-settings.ts";
import { exitCodes, usage, verbUsage } from "./usage.ts";
import type { Verb } from "./verb-table.ts";

// A reader such as `head` that has seen enough is an ordinary end.
process.stdout.on("error", () => process.exit(exitCodes.ok));

// Not process.exit: what was written to a pipe must still arrive.
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const invocation = readArguments(args);
  const screen = screenFor(args.includes("--no-color"));
  switch (invocation.verb) {
    case "help":
      screen.out(invocation.about === null ? usage() : verbUsage(invocation.about));
      return exitCodes.ok;
    case "version":
      screen.out(version());
      return exitCodes.ok;
    case "misused":
      screen.err(`${invocation.problem}\n${helpHint(invocation.about)}`);
      return exitCodes.usage;
    case "up": {
      // Loaded only here: the verbs that ask a running Aperture start without the store and the engine.
      const { up } = await import("./up.ts");
      Object.assign(process.env, environmentWith({}, invocation.flags));
      return await up(version(), screen);
    }
    default: {
      const { dispatch } = await import("./dispatch.ts");
      const world = worldNow();
      const read = loadSettings({ env: environmentWith(world.env, invocation.flags), home: world.home });
      return await dispatch(invocation.verb, { ...invocation, version: version(), screen, world, read });
    }
  }
}

/** The sentence that says what is wrong must not scroll away below a page of help. */
function helpHint(about: Verb | null): string {
  return `\`aperture help${about === null ? "" : ` ${about.name}`}\` says what is understood.`;
}

function screenFor(isSwitchedOff: boolean): Screen {
  const isTerminal = process.stdout.isTTY === true;
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    bytes: (bytes) => process.stdout.write(bytes),
    paint: wantsColour({ env: process.env, isTerminal, isSwitchedOff }) ? coloured : plain,
    isTerminal,
  };
}

function worldNow(): World {
  return { env: process.env, home: homedir(), cwd: process.cwd(), nowMs: () => Date.now() };
}

/** package.json lies two folders up from here in src and in dist alike: one place holds the version. */
function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
