import { parentPort, workerData } from "node:worker_threads";
import { type ReplayWork, replayStrictly } from "./strict-model.ts";

parentPort?.postMessage(await replayStrictly(workerData as ReplayWork)); // strict-thread.ts gives it
