import type { BlockRow } from "../../queries/answers/index.ts";

const listedMax = 8;

/** `#18 #20`; a long list is cut, with the number of the rest. */
export function blockList(blocks: readonly number[]): string {
  const more = blocks.length - listedMax;
  const some = blocks.slice(0, listedMax).map((block) => `#${block}`);
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

/** The form in which a block is sent or wanted, in one word. */
export const formNames: Readonly<Record<BlockRow["shown"], string>> = {
  original: "whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "minimal",
  placeholder: "pruned",
  absent: "not sent",
};
