export { type Judgement, judge } from "./acceptance.ts";
export type { Reason, ReasonKind } from "./acceptance-facts.ts";
export { atArrival } from "./arrival.ts";
export { extract } from "./extract.ts";
export { Levels } from "./levels.ts";
export { keptText } from "./marker.ts";
export { SeenLines, type SeenRun, withReferences } from "./seen-lines.ts";
export type { Source } from "./source.ts";
export { trimText } from "./trim-text.ts";
