/** Figures by their name without prefix, labels included, as `/metrics` prints them. */
export type Figures = ReadonlyMap<string, number>;

export function readFigures(text: string): Figures {
  const found = [...text.matchAll(/^aperture_(\S+) (-?[\d.e+-]+)$/gm)];
  return new Map(found.map(([, name = "", value]) => [name, Number(value)]));
}

/** Responses by upstream and class of status, without those that had none. */
export function answersByUpstream(figures: Figures): ReadonlyMap<string, readonly string[]> {
  const answers = new Map<string, string[]>();
  for (const [name, count] of figures) {
    const [, upstream, status] = /^responses_total\{upstream="([^"]+)",status="([^"]+)"\}$/.exec(name) ?? [];
    if (upstream === undefined || count === 0) continue;
    answers.set(upstream, [...(answers.get(upstream) ?? []), `${count} ${status}`]);
  }
  return answers;
}
