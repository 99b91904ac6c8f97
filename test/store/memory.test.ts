import { openMemoryStore } from "../../src/store/index.ts";
import { describeStore } from "./contract.ts";

describeStore("memory", {
  open: () => openMemoryStore(),
  openBackup: (path) => openMemoryStore({ from: path }),
});
