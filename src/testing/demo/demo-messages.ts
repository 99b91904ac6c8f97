import { randomBytes } from "node:crypto";
import type { JsonObject } from "../json-text.ts";
import { type CoreAnswer, type StrictCore, strictCore } from "../strict-core.ts";
import { demoAgent, demoModelLike, demoModelName } from "./demo-agent.ts";

export type MessagesRequest = {
  readonly target: "/v1/messages" | "/v1/messages/count_tokens";
  /** Names and values in turns. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
};

/** The Messages API, as strict as the one our tests run against, but without keys. */
export class DemoMessages {
  readonly #core: StrictCore = strictCore({
    model: demoAgent,
    clock: { now: () => Date.now() },
    secret: randomBytes(16).toString("hex"),
    aliases: { [demoModelName]: demoModelLike },
    unknownBetas: "accept",
    foreignSignatures: "accept",
  });
  #requests = 0;

  async answer({ target, rawHeaders, body }: MessagesRequest): Promise<CoreAnswer> {
    this.#requests += 1;
    const hasVersion = rawHeaders.some(
      (name, at) => at % 2 === 0 && name.toLowerCase() === "anthropic-version",
    );
    const version = hasVersion ? [] : ["anthropic-version", "2023-06-01"];
    const headers = [...rawHeaders, ...version, "x-api-key", "none is needed"];
    const result = this.#core.read({ method: "POST", target, rawHeaders: headers, body });
    return await this.#core.answer(result, this.#requests);
  }

  /** The body of Bedrock is the same, without a model and with a version of its own. */
  async invoke({ anthropic_version: _, ...body }: JsonObject, isStreaming: boolean): Promise<CoreAnswer> {
    const request = { ...body, model: demoModelName, ...(isStreaming ? { stream: true } : {}) };
    const bytes = Buffer.from(JSON.stringify(request));
    return await this.answer({ target: "/v1/messages", rawHeaders: [], body: bytes });
  }
}
