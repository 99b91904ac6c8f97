import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// The page is built into hashed files of our own origin: nothing inline, so that the strictest policy holds.
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  build: {
    outDir: "../dist/panel",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
  },
});
