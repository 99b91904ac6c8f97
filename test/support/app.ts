import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type AppOptions, type RunningApp, startApp } from "../../src/cli/app/app.ts";
import type { ConfiguredMode } from "../../src/config/index.ts";
import { settingsFor } from "./app-settings.mjs";

export type TestApp = RunningApp & {
  readonly dataDir: string;
  readonly notes: readonly string[];
  /** Answers of the control API. */
  readonly api: (path: string) => Promise<Answer>;
  /** Resolves when everything that was relayed is written down. */
  readonly recorded: () => Promise<void>;
  /** Ends it and removes what it left. */
  readonly remove: () => Promise<void>;
};
export type Starting = Partial<Pick<AppOptions, "limits" | "faults" | "deadlineMs" | "windows">> & {
  readonly dataDir?: string;
  /** Observe, unless a test is about what is managed. */
  readonly mode?: ConfiguredMode;
  readonly textCommands?: "on" | "off";
};

/** Aperture as `aperture up` runs it, in this process, in front of an upstream of a test. */
export async function startTestApp(upstream: string, starting: Starting = {}): Promise<TestApp> {
  const dataDir = starting.dataDir ?? mkdtempSync(join(tmpdir(), "aperture-app-"));
  const notes: string[] = [];
  const url = new URL(upstream);
  const { limits, faults, deadlineMs, windows } = starting;
  const app = await startApp({
    settings: {
      ...settingsFor(url, dataDir),
      mode: starting.mode ?? "observe",
      textCommands: starting.textCommands ?? "off",
    },
    version: "0.0.0-test",
    notify: (line) => notes.push(line),
    ...(limits === undefined ? {} : { limits }),
    ...(windows === undefined ? {} : { windows }),
    ...(faults === undefined ? {} : { faults }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  return {
    ...app,
    dataDir,
    notes,
    api: (path) => ask(`${app.url}/api/v1${path}`, { headers: { authorization: `Bearer ${app.token}` } }),
    recorded: async () => {
      while (app.proxy.metrics().active > 0 || app.engine.status().waitingBytes > 0) await sleep(2);
    },
    remove: async () => {
      await app.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** False where the connection broke off before the body's end. */
  readonly isWhole: boolean;
};
export type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
};

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
export const modelHeaders = {
  "content-type": "application/json",
  "x-api-key": "test-key-0123456789",
  "anthropic-version": "2023-06-01",
} as const;

/** One HTTP request. What breaks off is an answer that is not whole; what never begins is an error. */
export function ask(url: string, { method, headers = {}, body }: Sent = {}): Promise<Answer> {
  const options = { method: method ?? (body === undefined ? "GET" : "POST"), headers, agent };
  return new Promise((resolve, reject) => {
    const outgoing = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      const finish = (isWhole: boolean): void => {
        const { statusCode = 0, headers: answered } = response;
        resolve({ status: statusCode, headers: answered, body: Buffer.concat(chunks), isWhole });
      };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => finish(response.complete));
      response.on("error", () => finish(false));
      response.on("close", () => finish(response.complete));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

export function jsonIn<T>(answer: Answer): T {
  return JSON.parse(answer.body.toString("utf8")) as T;
}
