import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { findCycles } from "./cycles.ts";
import { type FileMap, type Import, lineAt, readSources, type SourceFile } from "./imports.ts";
import { impureWords, type Layer, layers, pureBuiltins, testOnlyImports } from "./layers.ts";

export type Violation = { readonly where: string; readonly rule: string; readonly why: string };

export type Repository = {
  readonly files: FileMap;
  /** The run-time packages of package.json: nothing else is there for sure when a user installs. */
  readonly dependencies: readonly string[];
  /** Its optional peers: there for those who want them. */
  readonly optional: readonly string[];
};

type Known = { readonly file: SourceFile; readonly layer: Layer; readonly repository: Repository };

export function scan(repository: Repository): Violation[] {
  const sources = readSources(repository.files);
  return [
    ...folderViolations(sources),
    ...sources.flatMap((file) => {
      const layer = layers.find(({ folder }) => folder === file.folder);
      return layer === undefined ? [] : fileViolations({ file, layer, repository });
    }),
    ...cycleViolations(sources),
  ];
}

function folderViolations(sources: readonly SourceFile[]): Violation[] {
  const found: Violation[] = [];
  for (const folder of new Set(sources.map((file) => file.folder))) {
    const where = folder === undefined ? "src" : `src/${folder}`;
    if (folder === undefined) {
      found.push({ where, rule: "no file directly in src", why: "every file belongs to a layer" });
    } else if (!layers.some((layer) => layer.folder === folder)) {
      found.push({
        where,
        rule: "unknown folder",
        why: "a new folder is a decision: add it to test/arch/layers.ts",
      });
    }
    if (folder !== undefined && !sources.some((file) => file.path === `src/${folder}/index.ts`)) {
      found.push({ where, rule: "no door", why: "each folder is entered through its index.ts" });
    }
  }
  return found;
}

function fileViolations(known: Known): Violation[] {
  const { file, layer } = known;
  const found = file.imports.flatMap((imported) => importViolations(known, imported));
  for (const line of file.computedImports) {
    found.push(at({ file, line }, "computed import", "a target that no scan can read escapes every rule"));
  }
  for (const match of file.code.matchAll(/(?<![.\w$])export\s*\*/g)) {
    const line = lineAt(file.code, match.index);
    found.push(
      at({ file, line }, "export *", "a door lists its names, so that growing it is a visible choice"),
    );
  }
  return layer.pure && !file.isTest ? [...found, ...purityViolations(file)] : found;
}

function importViolations(known: Known, imported: Import): Violation[] {
  const { file } = known;
  const report = (rule: string, why: string) => [
    at({ file, line: imported.line }, `${rule}: ${imported.target}`, why),
  ];
  if (imported.relative) {
    if (file.isTest && imported.target.startsWith("test/support/")) return [];
    if (!imported.target.startsWith("src/")) {
      return report("import from outside src", "src must be complete by itself: it is what users get");
    }
    return folderImportViolations(known, imported, report);
  }
  // By prefix too: node:sqlite is built in, but an older Node that runs this test does not know it.
  if (imported.target.startsWith("node:") || isBuiltin(imported.target))
    return builtinViolations(known, imported, report);
  return packageViolations(known, imported, report);
}

type Report = (rule: string, why: string) => Violation[];

function folderImportViolations(
  { file, layer, repository }: Known,
  imported: Import,
  report: Report,
): Violation[] {
  const missing = repository.files.has(imported.target)
    ? []
    : report("import of a file that does not exist", "imports are relative, with the .ts ending");
  const folder = imported.target.split("/")[1] ?? "";
  if (folder === file.folder) return missing;
  const allowed = file.isTest ? [...layer.mayImport, ...testOnlyImports.folders] : layer.mayImport;
  const direction = allowed.some((one) => isBehind(imported.target, file.isTest ? layerName(one) : one))
    ? []
    : report("wrong direction", layer.why);
  const door = imported.target.endsWith("/index.ts")
    ? []
    : report("bypassed door", "another folder is entered through its index.ts only");
  return [...missing, ...direction, ...door];
}

/** True if the file lies in the folder or in a folder inside it. */
function isBehind(path: string, folder: string): boolean {
  return path.startsWith(`src/${folder}/`);
}

/** `engine` for `engine/frames`: a unit test may read every door of a folder its layer knows. */
function layerName(allowed: string): string {
  return allowed.split("/")[0] ?? allowed;
}

function builtinViolations({ file, layer }: Known, imported: Import, report: Report): Violation[] {
  if (!layer.pure || file.isTest) return [];
  const excepted = pureBuiltins.some(
    ({ file: path, module, names }) =>
      path === file.path &&
      module === imported.target &&
      imported.names.length > 0 &&
      imported.names.every((name) => names.includes(name)),
  );
  return excepted ? [] : report("built-in module in a pure folder", layer.why);
}

function packageViolations(
  { file, layer, repository }: Known,
  imported: Import,
  report: Report,
): Violation[] {
  const name = imported.target
    .split("/")
    .slice(0, imported.target.startsWith("@") ? 2 : 1)
    .join("/");
  if (file.isTest && testOnlyImports.thirdParty.some((allowed) => allowed === name)) return [];
  if (!layer.thirdParty) {
    return report("third-party import", "base, engine, render and commands depend on nobody's releases");
  }
  if (repository.optional.includes(name)) {
    return imported.when === "start"
      ? report("optional package at the start", "who has not installed it could not start: import() it")
      : [];
  }
  return repository.dependencies.includes(name)
    ? []
    : report("undeclared package", "only run-time dependencies of package.json exist where users install");
}

function purityViolations(file: SourceFile): Violation[] {
  return impureWords.flatMap(({ name, pattern, why }) => {
    const match = pattern.exec(file.code);
    return match === null ? [] : [at({ file, line: lineAt(file.code, match.index) }, `impure: ${name}`, why)];
  });
}

function cycleViolations(sources: readonly SourceFile[]): Violation[] {
  const why = "code in a cycle cannot be understood, tested or moved one piece at a time";
  const productive = sources.filter((file) => !file.isTest);
  const fileGraph = new Map(productive.map((file) => [file.path, file.imports.map(({ target }) => target)]));
  return [
    ...findCycles(fileGraph).map((cycle) => ({ where: cycle.join(", "), rule: "cycle between files", why })),
    ...findCycles(folderGraph(productive, layerOf)).map((cycle) => ({
      where: cycle.join(", "),
      rule: "cycle between folders",
      why,
    })),
    ...findCycles(folderGraph(productive, posix.dirname)).map((cycle) => ({
      where: cycle.join(", "),
      rule: "folders that import each other",
      why,
    })),
  ];
}

function layerOf(path: string): string {
  return path.split("/")[1] ?? "";
}

/** Which folder imports which, where `folderOf` says what counts as the folder of a file. */
function folderGraph(
  files: readonly SourceFile[],
  folderOf: (path: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const graph = new Map<string, string[]>();
  for (const { path, imports } of files) {
    const own = folderOf(path);
    const targets = imports.filter(({ relative }) => relative).map(({ target }) => folderOf(target));
    // A folder may use the folders inside it, and these may use its files.
    const others = targets.filter((target) => target !== own && !target.startsWith(`${own}/`));
    graph.set(own, [...(graph.get(own) ?? []), ...others]);
  }
  return graph;
}

function at(place: { file: SourceFile; line: number }, rule: string, why: string): Violation {
  return { where: `${place.file.path}:${place.line}`, rule, why };
}
