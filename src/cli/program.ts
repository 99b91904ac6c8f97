import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { type HelpTopic, readArguments } from "./args/arguments.ts";
import { fullUsage, globalUsage, groupUsage, usage, verbUsage } from "./args/help-text.ts";
import type { CliVerb } from "./args/verb-table.ts";
import { exitCodes } from "./exit-codes.ts";
import { coloured, type Paint, plain, tabbed, wantsColour } from "./format/paint.ts";
import { environmentWith, loadSettings } from "./load-settings.ts";
import type { Screen } from "./screen.ts";
import type { SystemInfo } from "./verb-call.ts";

// A reader such as `head` may close the pipe early: that is no failure.
process.stdout.on("error", () => process.exit(exitCodes.ok));

async function main(args: readonly string[]): Promise<number> {
  const invocation = readArguments(args);
  const screen = createScreen(args);
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
      // main.ts runs the status line itself; only its help comes here.
      return exitCodes.ok;
    case "up": {
      // Loaded only here, so that verbs which call a running Aperture start without the store and the engine.
      const { up } = await import("./app/up.ts");
      Object.assign(process.env, environmentWith({}, invocation.flags));
      if (invocation.flags.has("detach")) {
        const { detach } = await import("./app/detach.ts");
        return await detach(screen, systemInfo());
      }
      return await up(version(), screen);
    }
    default: {
      const { dispatch } = await import("./dispatch.ts");
      const system = systemInfo();
      const env = environmentWith(system.env, invocation.flags);
      const settingsResult = loadSettings({ env, home: system.home });
      return await dispatch(invocation.verb, {
        ...invocation,
        version: version(),
        screen,
        system,
        settingsResult,
      });
    }
  }
}

/** Longer lines are hard to read. A pipe has no width, and some terminals report 0. */
const helpWidthMax = 100;

function helpText(topic: HelpTopic): string {
  const width = Math.min(process.stdout.columns || helpWidthMax, helpWidthMax);
  switch (topic?.of) {
    case "verb":
      return verbUsage(topic.verb, width);
    case "group":
      return groupUsage(topic.group, width);
    case "options":
      return globalUsage(width);
    case "all":
      return fullUsage(width);
    default:
      return usage(width);
  }
}

/** A pointer to the help instead of the help itself, which would scroll the problem off the screen. */
function helpHint(verb: CliVerb | null): string {
  return verb === null
    ? "`aperture help` lists the verbs."
    : `\`aperture help ${verb.name}\` shows how to use it.`;
}

/** Reads the flags about output from the raw arguments, so that they hold for a problem with them too. */
function createScreen(args: readonly string[]): Screen {
  const isTerminal = process.stdout.isTTY === true;
  const isSwitchedOff = args.includes("--no-color");
  const paint: Paint = wantsColour({ env: process.env, isTerminal, isSwitchedOff }) ? coloured : plain;
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    bytes: (bytes) => process.stdout.write(bytes),
    paint: args.includes("--plain") ? tabbed : paint,
    isTerminal,
    mayPrompt: process.stdin.isTTY === true && process.stderr.isTTY === true && !args.includes("--no-input"),
  };
}

function systemInfo(): SystemInfo {
  return { env: process.env, home: homedir(), cwd: process.cwd(), nowMs: () => Date.now() };
}

/** package.json holds the version. It lies two folders above this file, in src and in dist alike. */
function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

// Not process.exit, which would drop output that a pipe has not taken yet. This is the last statement,
// because no constant below it would be initialised while it runs.
process.exitCode = await main(process.argv.slice(2));
