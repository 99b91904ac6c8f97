import type { DiffReason } from "../answers/diff-answers.ts";

/** The sentences of reasons that need no facts. */
const plainWords = {
  tools: "Aperture offers this tool, so that the model can read and manage its context.",
  instructions: "Instructions: explain Aperture's notes and tools to the model.",
  header: "Header: gives the model the numbers of new blocks.",
  manifest: "Manifest: tells the model the state of its context.",
  selection: "It names the blocks you selected.",
  "change-note": "Change note: tells the model what changed since its last turn.",
  command: "The model called a tool of Aperture. The client does not see the call.",
  answer: "Result of a command of the model.",
  round:
    "The model's words before it called a tool of Aperture. The client gets them with the rest of the answer.",
  own: "Added by Aperture.",
  canon:
    "Sent with its first bytes. The client writes it differently now, and other bytes would miss the cache.",
  order: "Tools keep their first order; another order would miss the cache.",
  merged:
    "The client joined several texts into one. Aperture still sends them as several, to keep the cache.",
  "stand-in":
    "The model only called tools of Aperture, so the client got this line instead. Upstream gets the calls.",
  form: "Written as a list of blocks, with the same content.",
  room: "The rounds before this one used up some of the answer's tokens.",
  edit: "Asks the provider to clear old results, which keeps the reasoning valid.",
  new: "New in this request.",
  once: "Sent only in the previous request.",
  client: "The client no longer sends it.",
  unknown: "The log does not say why.",
} as const;

export function plainReason(code: keyof typeof plainWords): DiffReason {
  return { code, words: plainWords[code], by: null, seq: null, why: null };
}
