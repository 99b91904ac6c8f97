// A coding agent: three tools that reach no further than one folder.
//
//   node examples/coding-agent.mjs --folder work "write a function that adds, and describe it in README.md"
//
// Its log is kept in the folder's .agent.db. If it is killed, the next start continues where it was.
import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import {
  anthropicProvider,
  createSpace,
  defineTool,
  scriptedProvider,
  toolCall,
  withRetries,
} from "aperture/runtime";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, "slow-ms": { type: "string", default: "0" } },
});
// The agent overwrites files of the same name, so the folder must be named and is never guessed.
if (values.folder === undefined) {
  console.error('Which folder may it write to? node examples/coding-agent.mjs --folder work "what to do"');
  process.exit(2);
}
await mkdir(values.folder, { recursive: true });
const folder = await realpath(values.folder);
const database = ".agent.db";

/**
 * The full path of a file in the folder. A path that leads out of it, by dots or by links, is an error.
 * @param {string} path
 */
async function pathInside(path) {
  const full = resolve(folder, path);
  const isIn = (/** @type {string} */ real) => real === folder || real.startsWith(folder + sep);
  if (!isIn(full)) throw new Error(`${path} is outside the folder`);
  if (basename(full).startsWith(database)) throw new Error(`${path} is not yours`);
  let real = full;
  while (!(await realpath(real).catch(() => null))) real = dirname(real);
  if (!isIn(await realpath(real))) throw new Error(`${path} leads outside the folder`);
  return full;
}

const path = /** @type {const} */ ({ type: "string", description: "Relative to the folder." });
const listFiles = defineTool({
  name: "list_files",
  description: "The files of the folder, one on a line.",
  input: { type: "object", properties: {} },
  repeatable: true,
  run: async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith(database));
    const names = files.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
    return names.sort().join("\n") || "There are none.";
  },
});
const fileReader = defineTool({
  name: "read_file",
  description: "What is in a file.",
  input: { type: "object", properties: { path }, required: ["path"] },
  repeatable: true,
  run: async (input) => await readFile(await pathInside(input.path), "utf8"),
});
const fileWriter = defineTool({
  name: "write_file",
  description: "Writes a file, and its folder if there is none.",
  input: { type: "object", properties: { path, text: { type: "string" } }, required: ["path", "text"] },
  // Writing the same file twice does no harm, so a call that was cut off may be repeated.
  repeatable: true,
  run: async (input) => {
    const full = await pathInside(input.path);
    await new Promise((done) => setTimeout(done, Number(values["slow-ms"])));
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, input.text);
    return `Wrote ${input.text.length} characters to ${input.path}.`;
  },
});

/** Calls of a scripted model: it lists files, writes two, reads one again, and tries to leave the folder. */
const rounds = [
  [toolCall("list_files")],
  [
    toolCall("write_file", { path: "src/add.mjs", text: "export const add = (a, b) => a + b;\n" }),
    toolCall("write_file", { path: "README.md", text: "# add\n\n`add(1, 2)` is 3.\n" }),
  ],
  [toolCall("read_file", { path: "src/add.mjs" }), toolCall("read_file", { path: "../secret" })],
];
const scripted = scriptedProvider(({ messages }) => {
  const done = messages.filter(({ content }) => content.some(({ type }) => type === "tool_use")).length;
  return rounds[done] ?? "There is a function `add` in src/add.mjs, and README.md says how to call it.";
});

const { ANTHROPIC_API_KEY: key, MODEL: model = "claude-sonnet-5" } = process.env;
const space = await createSpace({
  path: join(folder, database),
  name: "coding",
  agents: [
    {
      name: "coder",
      system: "You write small programs. You have the files of one folder, and say at the end what you did.",
      provider: key ? withRetries(anthropicProvider({ apiKey: key })) : scripted,
      model,
      tools: [listFiles, fileReader, fileWriter],
    },
  ],
});
space.on("tool", ({ tool, is }) => console.log(`${is === "started" ? "->" : "<-"} ${tool} ${is}`));
space.on("said", ({ speaker, text }) => speaker === "coder" && console.log(text));
space.on("notice", ({ text }) => console.log(`! ${text}`));

const stream = space.stream("desk");
if (space.pending().length > 0) {
  console.log("(going on with what was cut off)");
} else {
  await stream.say(
    "you",
    positionals.join(" ") || "write a function that adds, and describe it in README.md",
  );
  await stream.activate("coder");
}
await space.idle();
await space.close();
