export { blockList, formNames } from "./format/block-list.ts";
export { moneyText } from "./format/rewrite-text.ts";
export { usedText } from "./format/window-text.ts";
