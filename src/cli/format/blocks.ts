import type { BlockRow } from "../../session/index.ts";

const listedMax = 8;

/** `#18 #20`; of very many the first, and how many more there are. */
export function blockList(blocks: readonly number[]): string {
  const more = blocks.length - listedMax;
  const some = blocks.slice(0, listedMax).map((block) => `#${block}`);
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

/** How a block is shown or wanted, in one word. */
export const formWords: Readonly<Record<BlockRow["shown"], string>> = {
  original: "whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "minimal",
  placeholder: "pruned",
  absent: "not sent",
};
