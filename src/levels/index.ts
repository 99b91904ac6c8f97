export { Levels } from "./levels.ts";
export { hasMarker } from "./marker.ts";
export type { Source } from "./source.ts";
