import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// Builds hashed files and nothing inline, because the content security policy forbids inline code.
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
