import { join } from "node:path";
import { openSqliteStore } from "../../src/store/index.ts";
import { describeStore } from "./contract.ts";
import { folder } from "./samples.ts";

describeStore("sqlite", {
  open: () => openSqliteStore({ path: join(folder(), "aperture.db") }),
  openBackup: (path) => openSqliteStore({ path }),
});
