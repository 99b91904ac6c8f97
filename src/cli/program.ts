import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { type HelpTopic, readArguments } from "./arguments.ts";
import type { Screen, World } from "./call.ts";
import { coloured, type Paint, plain, tabbed, wantsColour } from "./format/paint.ts";
import { environmentWith, loadSettings } from "./load-settings.ts";
import { exitCodes, fullUsage, groupUsage, usage, verbUsage } from "./usage.ts";
import type { Verb } from "./verb-table.ts";

// A reader such as `head` that has seen enough is an ordinary end.
process.stdout.on("error", () => process.exit(exitCodes.ok));

async function main(args: readonly string[]): Promise<number> {
  const invocation = readArguments(args);
  const screen = screenFor(wishesIn(args));
  switch (invocation.verb) {
    case "help":
      screen.out(helpText(invocation.about));
      return exitCodes.ok;
    case "version":
      screen.out(version());
      return exitCodes.ok;
    case "misused":
      screen.err(`${invocation.problem}\n${helpHint(invocation.about)}`);
      return exitCodes.usage;
    case "statusline":
      // Only its help comes this way; see main.ts.
      return exitCodes.ok;
    case "up": {
      // Loaded only here: the verbs that ask a running Aperture start without the store and the engine.
      const { up } = await import("./up.ts");
      Object.assign(process.env, environmentWith({}, invocation.flags));
      if (invocation.flags.has("detach")) {
        const { detach } = await import("./verbs/detach.ts");
        return await detach({ screen, world: worldNow() });
      }
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

/** Wider than this, lines are hard to follow; a pipe has no width, and some terminals say 0. */
const helpWidthMax = 100;

function helpText(topic: HelpTopic): string {
  const width = Math.min(process.stdout.columns || helpWidthMax, helpWidthMax);
  switch (topic?.of) {
    case "verb":
      return verbUsage(topic.verb, width);
    case "group":
      return groupUsage(topic.group, width);
    case "all":
      return fullUsage(width);
    default:
      return usage(width);
  }
}

/** The sentence that says what is wrong must not scroll away below a page of help. */
function helpHint(about: Verb | null): string {
  return `\`aperture help${about === null ? "" : ` ${about.name}`}\` says what is understood.`;
}

type ScreenWishes = { readonly noColour: boolean; readonly isPlain: boolean; readonly noInput: boolean };

/** Read before everything else, so that a complaint about the arguments is dressed as they ask. */
function wishesIn(args: readonly string[]): ScreenWishes {
  return {
    noColour: args.includes("--no-color"),
    isPlain: args.includes("--plain"),
    noInput: args.includes("--no-input"),
  };
}

function screenFor({ noColour: isSwitchedOff, isPlain, noInput }: ScreenWishes): Screen {
  const isTerminal = process.stdout.isTTY === true;
  const dressed: Paint = wantsColour({ env: process.env, isTerminal, isSwitchedOff }) ? coloured : plain;
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    bytes: (bytes) => process.stdout.write(bytes),
    paint: isPlain ? tabbed : dressed,
    isTerminal,
    isAsking: process.stdin.isTTY === true && process.stderr.isTTY === true && !noInput,
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

// Not process.exit: what was written to a pipe must still arrive. Last in the file, because while it runs
// nothing below it exists.
process.exitCode = await main(process.argv.slice(2));
