import type { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import type { ModelRequest } from "../provider.ts";
import { converseEvents, heardConverse } from "./converse-answer.ts";
import { converseInput } from "./converse-request.ts";
import { type Heard, heardMessage, messageEvents } from "./messages-answer.ts";
import { type JsonFields, messagesBody } from "./messages-body.ts";

export type Sdk = typeof import("@aws-sdk/client-bedrock-runtime");

/** One question through the official client. Whatever that throws is passed on. */
export type BedrockCall = {
  readonly sdk: Sdk;
  readonly client: BedrockRuntimeClient;
  readonly signal: AbortSignal;
  readonly request: ModelRequest;
  readonly fields: JsonFields;
  readonly streams: boolean;
  readonly heard: (text: string) => void;
  /** Called when an answer begins to come. */
  readonly began: () => void;
};

/** The version of the Messages interface on Bedrock; `fields` may name a newer one. */
const anthropicVersion = "bedrock-2023-05-31";

/** InvokeModel: a body of the Messages interface, for Claude alone. */
export async function invoke(call: BedrockCall): Promise<Heard> {
  const { sdk, client, request } = call;
  const body = { anthropic_version: anthropicVersion, ...messagesBody(request), ...call.fields };
  const input = {
    modelId: request.model,
    contentType: "application/json",
    accept: "application/json",
    body: Buffer.from(JSON.stringify(body)),
  };
  const settings = { abortSignal: call.signal };
  if (!call.streams) {
    return heardMessage((await client.send(new sdk.InvokeModelCommand(input), settings)).body);
  }
  const answer = await client.send(new sdk.InvokeModelWithResponseStreamCommand(input), settings);
  const events = messageEvents(call.heard);
  call.began();
  for await (const { chunk } of answer.body ?? []) {
    if (chunk?.bytes !== undefined) events.take(Buffer.from(chunk.bytes).toString());
  }
  return events.finish();
}

/** Converse: blocks in a form of Bedrock's own, for every model. */
export async function converse(call: BedrockCall): Promise<Heard> {
  const { sdk, client } = call;
  const translated = converseInput(call.request, call.fields);
  if ("failure" in translated) return translated;
  const { input } = translated;
  const settings = { abortSignal: call.signal };
  if (!call.streams) return heardConverse(await client.send(new sdk.ConverseCommand(input), settings));
  const answer = await client.send(new sdk.ConverseStreamCommand(input), settings);
  const events = converseEvents(call.heard);
  call.began();
  for await (const event of answer.stream ?? []) events.take(event);
  return events.finish();
}
