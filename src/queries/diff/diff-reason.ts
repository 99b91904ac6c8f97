import type { DiffReason } from "../answers/diff-answers.ts";

/** The words of reasons that need no facts. */
const plainWords = {
  tools: "A tool of ours, with which the model reads and shapes its context.",
  instructions: "Tells the model once what our lines mean.",
  header: "A header: the numbers of the blocks the model has not been told of.",
  manifest: "The manifest: what the model is told about its context now.",
  selection: "It names the blocks you have selected.",
  "change-note": "Tells the model what has changed since its last turn.",
  command: "The model asked this of us; the client never gets it.",
  answer: "What a command of the model came to.",
  round: "What the model had said before it asked us; the client gets it with the rest of the answer.",
  own: "Said by Aperture.",
  canon:
    "Sent with the bytes it had first. The client writes it another way this time, and other bytes would lose the cache.",
  order: "Tools keep the order in which they were first sent, or nothing behind them could be cached.",
  merged: "The client has joined what was sent as several texts; they are sent as they were.",
  "stand-in":
    "A line we gave the client where the model did nothing but ask us; what it asked is sent instead.",
  form: "Written as a list of blocks; it says the same.",
  room: "What is left of the answer's tokens once those of the rounds before are spent.",
  edit: "Has the provider leave out old results, which its model then does without; reasoning stays valid so.",
  new: "New in this request.",
  once: "Said in the request before, and only there.",
  client: "The client does not send it any more.",
  unknown: "The log does not say why.",
} as const;

export function plainReason(code: keyof typeof plainWords): DiffReason {
  return { code, words: plainWords[code], by: null, seq: null, why: null };
}
