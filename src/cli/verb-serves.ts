import { clientNames } from "./launch/wiring.ts";
import { json, type VerbShape } from "./verb-shape.ts";

/** Verbs about the running Aperture, its settings and its data. */

export const serving = [
  {
    name: "down",
    about: "stop the Aperture that runs; requests in flight end first",
    operands: [],
    flags: [],
    examples: ["aperture down"],
  },
  {
    name: "open",
    about: "a link that logs one browser into the panel, once; at a terminal the browser is opened too",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [{ name: "print", about: "print the link only" }, json],
    examples: ["aperture open", "aperture open last --print"],
  },
  {
    name: "env",
    about: "what leads a client through Aperture, as lines for a shell",
    operands: [{ name: "CLIENT", isRequired: true, choices: clientNames }],
    flags: [
      {
        name: "shell",
        value: "SHELL",
        choices: ["sh", "fish", "powershell"],
        about: "sh, fish or powershell; without it, the one you use",
      },
      json,
    ],
    examples: ["aperture env claude", "aperture env codex --shell fish"],
  },
  {
    name: "install",
    about: "lead a client through Aperture for good, by its own settings; uninstall puts them back",
    operands: [{ name: "CLIENT", isRequired: true, choices: clientNames }],
    flags: [json],
    examples: ["aperture install claude", "aperture install codex"],
  },
  {
    name: "uninstall",
    about: "put the settings of a client back as they were, also while Aperture is down",
    operands: [{ name: "CLIENT", isRequired: true, choices: clientNames }],
    flags: [
      { name: "clean", about: "also take out an address of this machine that Aperture did not put there" },
      json,
    ],
    examples: ["aperture uninstall claude", "aperture uninstall claude --clean"],
  },
  {
    name: "config",
    about: "settings: what holds and why (get), change the config file (set, unset), where things are (path)",
    operands: [
      { name: "WHAT", isRequired: false, choices: ["get", "set", "unset", "path"] },
      { name: "NAME", isRequired: false },
      { name: "VALUE", isRequired: false },
    ],
    flags: [json],
    examples: [
      "aperture config",
      "aperture config get mode",
      "aperture config set mode observe",
      "aperture config unset mode",
      "aperture config path",
    ],
  },
  {
    name: "completion",
    about: "completes verbs, options and sessions in a shell: a script for it to read",
    operands: [{ name: "SHELL", isRequired: true, choices: ["bash", "zsh", "fish", "powershell"] }],
    flags: [],
    examples: [
      "aperture completion bash > ~/.local/share/bash-completion/completions/aperture",
      "aperture completion zsh > ~/.zfunc/_aperture",
      "aperture completion fish > ~/.config/fish/completions/aperture.fish",
    ],
  },
  {
    name: "statusline",
    about: "one line for the status line of a client; it reads the client's JSON and never fails",
    operands: [],
    flags: [],
    examples: ["aperture statusline"],
  },
  {
    name: "export",
    about: "a whole session as a file: everything (jsonl), to read (md, html), or for tools of HTTP (har)",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [
      {
        name: "format",
        value: "FORM",
        choices: ["jsonl", "html", "md", "har"],
        about: "jsonl (the default), html, md or har",
      },
      { name: "out", value: "FILE", about: "write it to this new file" },
      { name: "with-secrets", about: "mask nothing; asks twice, at a terminal only" },
    ],
    examples: [
      "aperture export last > session.jsonl",
      "aperture export last --format html --out session.html",
      "aperture export --format md",
    ],
  },
  {
    name: "replay",
    about: "carry out a session again, frame by frame, and compare what is stored byte by byte",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [
      { name: "verify", about: "exit with 1 if anything differs" },
      { name: "to", value: "SEQ", isCount: true, about: "only up to this seq" },
      json,
    ],
    examples: ["aperture replay last --verify", "aperture replay session.jsonl --verify"],
  },
  {
    name: "backup",
    about: "copy everything that is stored to a new file, while Aperture runs or not",
    operands: [{ name: "FILE", isRequired: false }],
    flags: [json],
    examples: ["aperture backup", "aperture backup before-the-update.db"],
  },
  {
    name: "verify",
    about: "check everything that is stored: every frame, content and body against its hash",
    operands: [],
    flags: [{ name: "tail", about: "only the newest frames of every session" }, json],
    examples: ["aperture verify", "aperture verify --tail"],
  },
  {
    name: "gc",
    about: "drop what nothing points to any more, and give the room back",
    operands: [],
    flags: [json],
    examples: ["aperture gc"],
  },
] as const satisfies readonly VerbShape[];
