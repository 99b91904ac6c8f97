import { ScriptedClient } from "../../testing/index.ts";
import { files, runCommand } from "./demo-project.ts";

/** The rules of a real model apply. The name decides the window size and the prices. */
const demoClientModel = "claude-opus-4-6";

/** The client of the demo, with the tools of its project. It knows only Aperture's address. */
export function demoClient(url: string): ScriptedClient {
  const runCounts = new Map<string, number>();
  return new ScriptedClient({
    url,
    model: demoClientModel,
    answerTokensMax: 4_000,
    headers: { "user-agent": "aperture-demo", "x-api-key": "demo", "x-aperture-session": "fix-auth" },
    system: "You are a careful engineer who works on a shop.",
    tools: [
      { name: "read", description: "a file of the project", field: "path" },
      { name: "edit", description: "a change to a file", field: "path" },
      { name: "run", description: "a command and what it prints", field: "command" },
    ],
    runTool: (name, input) => runTool(runCounts, name, input),
  });
}

type DemoToolInput = Readonly<Record<string, unknown>>;

function runTool(runCounts: Map<string, number>, name: string, input: DemoToolInput): string {
  if (name === "read") return files[String(input["path"])] ?? "no such file";
  if (name === "edit") return `${String(input["path"])} is changed`;
  const command = String(input["command"]);
  const times = runCounts.get(command) ?? 0;
  runCounts.set(command, times + 1);
  return runCommand(command, runCounts.size + times);
}
