/** A manifest of ours, in whatever form it is written. */
export const manifestStart =
  /\[CONTEXT MANIFEST \w{4,5} |### CONTEXT MANIFEST \w{4,5}|<context-manifest mark=/;

/** Anything of ours, wherever it might have got to. */
export const ownText = new RegExp(
  `${manifestStart.source}|\\[\\w{4} turn \\d+[,:]|\\| \\w{4} ---|\\| \\w{4}\\]|carry the mark \\w{4} come from Aperture`,
);
