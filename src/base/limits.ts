/**
 * A limit on everything. Each is generous for real sessions and small enough that reaching it is a bug or an
 * attack. Units are the last word of the name.
 */
export const limits = {
  framesMax: 10_000_000,
  deltasPerFrameMax: 20_000,
  /** A step is a gesture or a turn of commands, undone as one. */
  framesPerStepMax: 1_000,
  frameBytesMax: 8 * 1024 * 1024,
  reasonCharsMax: 500,
  nameCharsMax: 200,
  anchorCharsMax: 500,
  topicsMax: 16,
  topicCharsMax: 120,
  tokensMax: 100_000_000,
  streamsMax: 10_000,
  viewsMax: 20_000,
  forkDepthMax: 64,
  blocksMax: 2_000_000,
  blocksPerMessageMax: 10_000,
  blocksPerPairMax: 10_000,
  blocksPerUnitMax: 10_000,
  idsPerReservationMax: 1_000,
  unitsMax: 10_000_000,
  turnsMax: 10_000_000,
  exchangesMax: 10_000_000,
  targetCharsMax: 2_000,
  /** Approvals: how many in all, the length of the printed command, and the blocks it is about. */
  approvalsMax: 1_000_000,
  commandCharsMax: 4_096,
  blocksPerApprovalMax: 10_000,
  excerptCharsMax: 400,
  permissionsMax: 200,
  ttlTurnsMax: 1_000_000,
  /** One stored content: larger bodies are relayed, not recorded whole. */
  contentBytesMax: 32 * 1024 * 1024,
  /** A content chained from more appended pieces than this is stored whole again. */
  contentChainMax: 1_000,
  recipePiecesMax: 50_000,
  /** Pieces walked through to put a body together, copies included: two short recipes can multiply. */
  recipeLeavesMax: 1_000_000,
  /** Bodies may copy from earlier bodies; a longer chain starts afresh from contents. */
  recipeChainMax: 256,
  /** Frames and bytes that may wait for a store that cannot write; beyond them an append is refused. */
  queueFramesMax: 10_000,
  queueBytesMax: 64 * 1024 * 1024,
  /** One answer to a reader: rows of a list, frames behind a block, bytes of a content. */
  rowsPerAnswerMax: 1_000,
  historyRowsMax: 200,
  pieceBytesMax: 1024 * 1024,
  /** Larger bodies are compared by their bytes alone. */
  diffBytesMax: 16 * 1024 * 1024,
  /** Characters read back when blocks are expanded: of each block, and of all together. */
  expandedBlockCharsMax: 200_000,
  expandedCharsMax: 1_000_000,
  /** Bytes a caller may send along with a write. */
  writtenBytesMax: 64 * 1024,
  /** An imported session with all its contents. */
  importedBytesMax: 400 * 1024 * 1024,
  /** Blocks one write may name. */
  selectedBlocksMax: 1_000,
  /**
   * Memory recall takes for one stream, by estimate: about 20 million characters of content. The oldest
   * blocks are dropped first, and only the beginning of a longer block is indexed.
   */
  recallBytesMax: 128 * 1024 * 1024,
  recallBlockCharsMax: 200_000,
  recallHitsMax: 50,
  /** A topic found in more blocks than this means none of them in particular. */
  recallTopicBlocksMax: 100,
  /** Sessions whose row is cached, so that a long list is not computed anew each time. */
  rowsRememberedMax: 5_000,
  /** States cached with all their rows, for readers that page through them. */
  statesRememberedMax: 4,
  /** Viewers of the live events: how many, and the events that may wait for each of them. */
  viewersMax: 100,
  viewerEventsMax: 1_000,
  /** Work done for readers on a thread of its own: how many jobs may wait, and the memory of one. */
  worksWaitingMax: 8,
  replayHeapBytesMax: 512 * 1024 * 1024,
  exportHeapBytesMax: 2 * 1024 * 1024 * 1024,
  /** Login links not used yet, and browsers logged in. */
  loginCodesMax: 20,
  loginsMax: 100,
} as const;
