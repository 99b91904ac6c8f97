import { vi } from "vitest";
import { PagedTable } from "../../src/base/index.ts";

/**
 * How many entries of the engine's tables an action reads: its work, whatever the machine does meanwhile.
 * Actions of other tests must not run at the same time.
 */
export async function countReads(act: () => unknown): Promise<number> {
  const gets = vi.spyOn(PagedTable.prototype, "get");
  const entries = PagedTable.prototype.entries;
  let listed = 0;
  const walks = vi.spyOn(PagedTable.prototype, "entries").mockImplementation(function* (
    this: PagedTable<unknown>,
  ) {
    for (const entry of entries.call(this)) {
      listed += 1;
      yield entry;
    }
  });
  try {
    await act();
    return gets.mock.calls.length + listed;
  } finally {
    gets.mockRestore();
    walks.mockRestore();
  }
}
