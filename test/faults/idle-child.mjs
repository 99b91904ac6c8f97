// Does nothing, and prints the longest delay of its event loop: what the machine does to every process.
//   node idle-child.mjs MILLISECONDS
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
await sleep(Number(process.argv[2]));
process.stdout.write(`${delays.max / 1e6}\n`);
