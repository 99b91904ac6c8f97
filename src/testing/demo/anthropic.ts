import { randomBytes } from "node:crypto";
import { type CoreAnswer, type StrictCore, strictCore } from "../core.ts";
import type { JsonObject } from "../json-text.ts";
import { demoAgent, demoModelLike, demoModelName } from "./talk.ts";

export type MessagesQuestion = {
  readonly target: "/v1/messages" | "/v1/messages/count_tokens";
  /** Names and values by turns. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
};

/** The Messages API, as strict as the one our tests run against, except that nobody needs a key. */
export class DemoMessages {
  readonly #core: StrictCore = strictCore({
    model: demoAgent,
    clock: { now: () => Date.now() },
    secret: randomBytes(16).toString("hex"),
    aliases: { [demoModelName]: demoModelLike },
    unknownBetas: "accept",
    foreignSignatures: "accept",
  });
  #asked = 0;

  async answer({ target, rawHeaders, body }: MessagesQuestion): Promise<CoreAnswer> {
    this.#asked += 1;
    const given = rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === "anthropic-version");
    const version = given ? [] : ["anthropic-version", "2023-06-01"];
    const headers = [...rawHeaders, ...version, "x-api-key", "none is needed"];
    const reading = this.#core.read({ method: "POST", target, rawHeaders: headers, body });
    return await this.#core.answer(reading, this.#asked);
  }

  /** Bedrock has the same body without a model, and its own version inside. */
  async invoke({ anthropic_version: _, ...body }: JsonObject, isStreaming: boolean): Promise<CoreAnswer> {
    const asked = { ...body, model: demoModelName, ...(isStreaming ? { stream: true } : {}) };
    const bytes = Buffer.from(JSON.stringify(asked));
    return await this.answer({ target: "/v1/messages", rawHeaders: [], body: bytes });
  }
}
