import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { repositoryFiles } from "./files.ts";
import { layers } from "./layers.ts";
import { scan } from "./scan.ts";

test("the source keeps its layers", () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly dependencies: object;
    readonly peerDependencies: object;
  };
  const violations = scan({
    files: repositoryFiles(),
    dependencies: Object.keys(dependencies),
    optional: Object.keys(peerDependencies),
  });
  expect(violations.map(({ where, rule, why }) => `${where}  ${rule}  (${why})`)).toEqual([]);
});

test("the table names each folder once, and only folders it knows", () => {
  const folders = layers.map(({ folder }) => folder);
  expect(new Set(folders).size).toBe(folders.length);
  for (const { folder, mayImport } of layers) {
    const imported = mayImport.map(folderOfDoor);
    expect(folders, folder).toEqual(expect.arrayContaining(imported));
    expect(imported, folder).not.toContain(folder);
    const inner = mayImport.filter((door) => door.includes("/"));
    expect(inner.filter((door) => !existsSync(`src/${door}/index.ts`))).toEqual([]);
  }
});

test("the table itself has no cycle: layers can be listed so that each imports only earlier ones", () => {
  const placed = new Set<string>();
  let grew = true;
  while (grew) {
    const ready = layers.filter(
      ({ folder, mayImport }) =>
        !placed.has(folder) && mayImport.every((door) => placed.has(folderOfDoor(door))),
    );
    for (const { folder } of ready) placed.add(folder);
    grew = ready.length > 0;
  }
  expect([...placed].sort()).toEqual(layers.map(({ folder }) => folder).sort());
});

function folderOfDoor(door: string): string {
  return door.split("/")[0] ?? door;
}
