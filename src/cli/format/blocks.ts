const listedMax = 8;

/** `#18 #20`; of very many the first, and how many more there are. */
export function blockList(blocks: readonly number[]): string {
  const more = blocks.length - listedMax;
  const some = blocks.slice(0, listedMax).map((block) => `#${block}`);
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}
