import type { BodyFieldUse, Protocol, RequestKind } from "../protocol.ts";
import { endsWithStop, readWireAnswer } from "./answer.ts";
import { contextEdit, contextManagementBeta } from "./context-edit.ts";
import { noAnswerText } from "./hide-calls.ts";
import { interceptAnswer } from "./intercept.ts";
import { readPart, readText, readWireType } from "./read-part.ts";
import { readRequest } from "./read-request.ts";
import { errorBody, errorEvent, pingEvent, refusalEvent, refusalReason, threadRefusal } from "./refusals.ts";
import { emptyContent, replaceContent, replaceStrings } from "./replace-content.ts";
import { prependToResult } from "./result-text.ts";
import { isRenamedCall, isSameBlock } from "./same-block.ts";
import { clearAtBeta, modelTraits } from "./traits.ts";
import { unitStretches } from "./unit-stretches.ts";
import { unitOfResult } from "./units.ts";
import {
  clientBlock,
  emitList,
  emitMarked,
  ownMessage,
  systemMessage,
  textBlock,
  toolBlock,
  writeBody,
  writeRequest,
} from "./write-body.ts";

/** The Messages API. */
export const anthropic: Protocol = {
  name: "anthropic",
  read: {
    kindOf,
    request: readRequest,
    part: readPart,
    text: readText,
    wireType: readWireType,
    stretches: unitStretches,
    fieldUse,
    isSame: isSameBlock,
    isRenamedCall,
  },
  write: {
    request: writeRequest,
    text: textBlock,
    result: unitOfResult,
    tool: toolBlock,
    message: ownMessage,
    systemMessage,
    replace: replaceContent,
    replaceStrings,
    emptied: emptyContent,
    prependToResult,
    list: emitList,
    marked: emitMarked,
    clientUnit: clientBlock,
    body: writeBody,
    contextEdit,
  },
  answer: { read: readWireAnswer, intercept: interceptAnswer, endsWithStop, ping: pingEvent },
  traits: {
    model: modelTraits,
    marksMax: 4,
    noAnswerText,
    betaFor: (feature) => (feature === "self-clearing" ? clearAtBeta : contextManagementBeta),
  },
  refusals: { reasonOf: refusalReason, errorBody, errorEvent, refusalEvent, threadRefusal },
};

const paths = /\/v1\/messages(\/count_tokens)?(?:\?|$)/;

function kindOf(method: string, target: string): RequestKind | null {
  const found = method === "POST" ? paths.exec(target) : null;
  if (found === null) return null;
  return found[1] === undefined ? "ask" : "count";
}

const fieldUses: ReadonlyMap<string, BodyFieldUse> = new Map([
  ["tools", "tools"],
  ["system", "system"],
  ["messages", "messages"],
  ["max_tokens", "answer-limit"],
  ["cache_control", "automatic-mark"],
  ["context_management", "context-edit"],
]);

function fieldUse(name: string): BodyFieldUse {
  return fieldUses.get(name) ?? "other";
}
