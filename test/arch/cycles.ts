export type Graph = ReadonlyMap<string, readonly string[]>;

/** The strongly connected groups of more than one node, each sorted (Tarjan, one visit per node). */
export function findCycles(graph: Graph): string[][] {
  const search: Search = { graph, index: new Map(), low: new Map(), stack: [], cycles: [] };
  for (const node of graph.keys()) if (!search.index.has(node)) visit(search, node);
  return search.cycles;
}

type Search = {
  readonly graph: Graph;
  readonly index: Map<string, number>;
  readonly low: Map<string, number>;
  readonly stack: string[];
  readonly cycles: string[][];
};

function visit(search: Search, node: string): void {
  const order = search.index.size;
  search.index.set(node, order);
  search.stack.push(node);
  let low = order;
  for (const next of search.graph.get(node) ?? []) {
    if (!search.graph.has(next)) continue;
    if (!search.index.has(next)) visit(search, next);
    if (search.stack.includes(next))
      low = Math.min(low, search.low.get(next) ?? search.index.get(next) ?? low);
  }
  search.low.set(node, low);
  if (low !== order) return;
  const group = search.stack.splice(search.stack.indexOf(node));
  const importsItself = (search.graph.get(node) ?? []).includes(node);
  if (group.length > 1 || importsItself) search.cycles.push(group.sort((a, b) => (a < b ? -1 : 1)));
}
