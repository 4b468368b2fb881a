import path from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const node = { environment: "node" } as const;
/** Projects that start whole processes: one file at a time, with room for a slow machine. */
const wholeProcesses = {
  ...node,
  pool: "forks",
  fileParallelism: false,
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...node,
          name: "unit",
          include: ["test/unit/**/*.test.ts", "models/**/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...wholeProcesses,
          name: "kernels",
          include: ["kernels/**/*.test.ts", "test/kernels/**/*.test.ts"],
          // Half of a kernel's test is compiling and starting, on one core: two at a time, before all others.
          fileParallelism: true,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...wholeProcesses,
          name: "process",
          include: ["test/process/**/*.test.ts"],
        },
      },
      {
        plugins: [
          cloudflareTest(async () => {
            await import("./src/local/build-edge-program.ts");
            return {
              wrangler: { configPath: "./wrangler.toml" },
              remoteBindings: false,
              miniflare: {
                cf: false,
                bindings: {
                  BOOTSTRAP_SECRET: "bootstrap-secret-of-the-edge-tests-0123456789",
                  FLUSH_MS: "1",
                  TEST_MIGRATIONS: await readD1Migrations(path.join(import.meta.dirname, "migrations")),
                },
              },
            };
          }),
        ],
        test: {
          name: "edge",
          include: ["test/edge/**/*.test.ts"],
          setupFiles: ["./test/edge/apply-migrations.ts"],
          testTimeout: 30_000,
        },
      },
      { test: { ...wholeProcesses, name: "contract", include: ["test/contract/**/*.test.ts"] } },
      { test: { ...wholeProcesses, name: "e2e", include: ["test/e2e/**/*.test.ts"] } },
      { test: { ...wholeProcesses, name: "browser", include: ["test/browser/**/*.test.ts"] } },
      // Needs a real GPU: `npm run test:device`.
      { test: { ...wholeProcesses, name: "device", include: ["test/device/**/*.test.ts"] } },
    ],
  },
});
