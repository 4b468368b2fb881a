import { defineConfig } from "vite";
import { emitDataImages, emitKernelSources } from "./emit-assets.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;

/** Builds the pages into files that a policy of `default-src 'self'` lets through: nothing inline, nothing from elsewhere. */
export default defineConfig({
  root: here("."),
  plugins: [emitDataImages(), emitKernelSources(here("../../kernels"))],
  build: {
    outDir: here("../../dist/dashboard"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Swagger UI is one file of 1.7 MB; only /docs loads it.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      // Schemas and endpoints that no page uses are left out: making one has no other effect.
      treeshake: {
        manualPureFunctions: [
          "z",
          "defineEndpoint",
          "pageOf",
          "idSchema",
          "PageQuery",
          "SeriesKey",
          "TuningRecord",
          "Choice",
        ],
        propertyReadSideEffects: false,
      },
      input: [here("./index.html"), here("./docs.html"), here("./docs/problems.html")],
    },
  },
});
