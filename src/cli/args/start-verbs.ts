import { clientNames } from "../launch/client-addresses.ts";
import { json, type Operand, type VerbSpec } from "./verb-spec.ts";

const knownClient: Operand = { name: "CLIENT", isRequired: true, choices: clientNames };

export const startVerbs = [
  {
    name: "demo",
    about:
      "watch a scripted agent at work, with the panel; needs no key and no network, leaves nothing behind",
    operands: [],
    flags: [
      {
        name: "pace",
        value: "MS",
        isCount: true,
        about: "milliseconds between two answers (default: 1200)",
      },
      { name: "once", about: "exit after the last answer instead of waiting for Ctrl-C" },
    ],
    examples: ["aperture demo", "aperture demo --pace 1 --once"],
  },
  {
    name: "run",
    about: "run a client through Aperture; starts Aperture for it if none runs",
    operands: [{ ...knownClient, isOpen: true }],
    passesOn: true,
    flags: [
      {
        name: "mode",
        choices: ["observe", "ask", "auto"],
        about: "how much is done without asking; goes before the client's name",
      },
    ],
    examples: [
      "aperture run claude",
      "aperture run claude -- --continue",
      "aperture run --mode observe codex",
      "aperture run python agent.py",
    ],
  },
  {
    name: "up",
    about: "start Aperture in the foreground (the default verb)",
    operands: [],
    flags: [{ name: "detach", about: "run in the background; returns when Aperture is ready" }],
    examples: ["aperture up", "aperture up --port 4410", "aperture up --detach"],
  },
  {
    name: "down",
    about: "stop the running Aperture after its open requests have ended",
    operands: [],
    flags: [],
    examples: ["aperture down"],
  },
  {
    name: "status",
    about: "show whether Aperture runs, what it records and what it has relayed",
    operands: [],
    flags: [json],
    examples: ["aperture status", "aperture status --json"],
  },
  {
    name: "open",
    about: "print a link that logs one browser into the panel, once; at a terminal, also open the browser",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [{ name: "print", about: "only print the link" }, json],
    examples: ["aperture open", "aperture open last --print"],
  },
  {
    name: "doctor",
    about: "check the whole setup, and print a fix for every problem",
    operands: [],
    flags: [{ name: "json", about: "print the findings as one JSON value" }],
    examples: ["aperture doctor"],
  },
] as const satisfies readonly VerbSpec[];

export const connectVerbs = [
  {
    name: "env",
    about: "print the variables that send a client through Aperture, as shell commands",
    operands: [knownClient],
    flags: [
      {
        name: "shell",
        choices: ["sh", "fish", "powershell"],
        isOpen: true,
        about: "syntax of the commands; sh also serves bash and zsh (default: your shell)",
      },
      json,
    ],
    examples: ["aperture env claude", "aperture env codex --shell fish"],
  },
  {
    name: "install",
    about: "send a client through Aperture permanently, by its own settings; uninstall restores them",
    operands: [knownClient],
    flags: [json],
    examples: ["aperture install claude", "aperture install codex"],
  },
  {
    name: "uninstall",
    about: "restore the settings of a client; works while Aperture is stopped",
    operands: [knownClient],
    flags: [
      { name: "clean", about: "also remove an address of this machine that Aperture did not set" },
      json,
    ],
    examples: ["aperture uninstall claude", "aperture uninstall claude --clean"],
  },
  {
    name: "statusline",
    about: "print one line for the status line of a client; reads the client's JSON and never fails",
    operands: [],
    flags: [],
    examples: ["aperture statusline"],
  },
  {
    name: "completion",
    about: "print a script that completes verbs, options and sessions in a shell",
    operands: [{ name: "SHELL", isRequired: true, choices: ["bash", "zsh", "fish", "powershell"] }],
    flags: [],
    examples: [
      "aperture completion bash > ~/.local/share/bash-completion/completions/aperture",
      "aperture completion zsh > ~/.zfunc/_aperture",
      "aperture completion fish > ~/.config/fish/completions/aperture.fish",
    ],
  },
] as const satisfies readonly VerbSpec[];
