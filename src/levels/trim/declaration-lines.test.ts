import { expect, test } from "vitest";
import { isDeclaration } from "./declaration-lines.ts";

test.each([
  "func (s *Store) Load(ctx context.Context, id string) (*State, error) {",
  "type Store struct {",
  "export class Store {",
  "export default async function load() {",
  "  private async load(id: string): Promise<Store> {",
  "  constructor(",
  "  #load(id: string): void {",
  "  static int load(const char *path) {",
  "export const load = async (id: string) => {",
  "def load(self, path):",
  "    async def load(self):",
  "pub(crate) fn load<T>(id: T) -> Result<T> {",
  "impl Store for Memory {",
  "cleanup() {",
  '  test("loads what was stored", () => {',
])("a declaration: %s", (line) => {
  expect(isDeclaration(line)).toBe(true);
});

test.each([
  "  if (isLoaded(store)) {",
  "  for (const id of idsOf(store)) {",
  "  return load(id);",
  "  load(id);",
  "import (",
  "  super({",
  "  // a class of its own",
  "  functional = true",
  "}",
  "",
])("no declaration: %s", (line) => {
  expect(isDeclaration(line)).toBe(false);
});
