export { answersText } from "./answers.ts";
export { changeNote } from "./change-note.ts";
export { changesText } from "./changes-text.ts";
export {
  compactHeader,
  type HeaderBlock,
  type HeaderMessage,
  type HeaderMode,
  messageHeader,
  partHeader,
  readHeader,
  type TurnHeader,
} from "./header.ts";
export { type Offer, offerLine } from "./hints.ts";
export { instructions, tellsTextCommands } from "./instructions.ts";
export { isLower, levelLine } from "./level-line.ts";
export { type ManifestOptions, manifestText, type WrittenManifest, writeManifest } from "./manifest.ts";
export {
  type ManifestField,
  type ManifestVariant,
  readManifestNote,
  writeSelectedField,
} from "./manifest-note.ts";
export { memoryLine, memoryMark, memoryText, type ShownMemory } from "./memory-line.ts";
export { type Note, readNote } from "./note.ts";
export { continuesOwnLine, isOwnLine, opensOwnLines } from "./own-line.ts";
export { hintOf, placeholder } from "./placeholder.ts";
export { reasoningText } from "./reasoning.ts";
export { hitsText, hitText, recalledBlocks } from "./recalled.ts";
export { safeText, shortened, withoutNonce } from "./safe-text.ts";
export { idsText, readRanges } from "./sizes-and-ids.ts";
