// Runs every task of the npm scripts: `node scripts/run.mjs <task> [args]`.
// It must work on a fresh clone, so it and everything it loads first use only Node.
// This file keeps to old syntax and loads the rest late: an old Node should reach the clear message below
// instead of a parse error.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

checkNode();
process.chdir(root);
const [task, ...args] = process.argv.slice(2);
const { tasks } = await import(pathToFileURL(join(root, "scripts", "tasks.mjs")).href);
if (task === undefined || !Object.hasOwn(tasks, task)) {
  console.error(`usage: node scripts/run.mjs <${Object.keys(tasks).join("|")}> [arguments]`);
  process.exit(2);
}
if (args.includes("--help") && (task === "build" || task === "format")) {
  console.log(`npm run ${task}: ${tasks[task].about}`);
  process.exit(0);
}
try {
  await tasks[task].run(args);
} catch (error) {
  // A TaskError has a message for the user; any other error is a bug and shows its stack.
  console.error(error instanceof Error && error.name === "TaskError" ? error.message : error);
  process.exit(1);
}

function checkNode() {
  const wanted = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).engines.node.replace(">=", "");
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  console.error(`Aperture needs Node ${wanted} or newer; this is Node ${process.versions.node}.`);
  process.exit(1);
}
