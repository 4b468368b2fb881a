import { defineConfig, type Plugin } from "vite";
import { emitDataImages, emitKernelSources } from "./emit-assets.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;

/** A field's description, which only the OpenAPI document shows. */
const DESCRIPTION = /\s*\.meta\(\{\s*description:\s*(?:"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)\s*,?\s*\}\)/g;

/** Leaves descriptions of the protocol's fields out of the pages: some 14 KB compressed. */
const withoutDescriptions = (): Plugin => ({
  name: "without-descriptions",
  transform: (code, id) => (id.includes("/src/protocol/") ? { code: code.replace(DESCRIPTION, ""), map: null } : null),
});

/** Builds the pages into files that a policy of `default-src 'self'` lets through: nothing inline, nothing from elsewhere. */
export default defineConfig({
  root: here("."),
  plugins: [withoutDescriptions(), emitDataImages(), emitKernelSources(here("../../kernels"))],
  build: {
    outDir: here("../../dist/dashboard"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Swagger UI is one file of 1.7 MB; only /docs loads it.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      input: [here("./index.html"), here("./docs.html"), here("./docs/problems.html")],
    },
  },
});
