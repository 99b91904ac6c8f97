export { atArrival } from "./arrival.ts";
export { Levels } from "./levels.ts";
export { hasMarker, keptText } from "./marker.ts";
export { SeenLines, type SeenRun, withReferences } from "./seen-lines.ts";
export type { Source } from "./source.ts";
