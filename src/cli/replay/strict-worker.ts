import { parentPort, workerData } from "node:worker_threads";
import { replayStrictly, type StrictReplayInput } from "./strict-model.ts";

parentPort?.postMessage(await replayStrictly(workerData as StrictReplayInput)); // strict-thread.ts passes it
