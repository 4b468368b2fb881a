import path from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { CACHE_DIR } from "./test/kernels/software-gpu-cache.ts";

/** A poll may take this long on a busy machine; one second, the default, is too short. */
const patient = { expect: { poll: { timeout: 30_000 } } } as const;
const node = { environment: "node", ...patient } as const;
/** Every core: the main process has little to do once the files are handed out. */
const everyCore = { maxWorkers: "100%" } as const;
/**
 * Projects that start whole processes, with room for a slow machine: three files at a time, since each leaves a core idle
 * while it starts, compiles on one thread or waits.
 */
const wholeProcesses = {
  ...node,
  pool: "forks",
  // Files that follow each other in a worker share its modules and what they open for it: a device, a stack, a browser.
  isolate: false,
  maxWorkers: 3,
  sequence: { groupOrder: 2 },
  // An emulated GPU, or an edge with a runner, takes minutes on a machine that is several times slower.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Most of a process' start is compiling our own code: they start by the hundred.
  env: { NODE_COMPILE_CACHE: path.join(CACHE_DIR, "compile-cache") },
} as const;
const builtEdge = { ...wholeProcesses, globalSetup: ["./test/build-edge.ts"] } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...node,
          ...everyCore,
          name: "unit",
          // They leave nothing behind, and most of a small file's time would go into a worker of its own.
          isolate: false,
          include: ["test/unit/**/*.test.ts", "models/**/*.test.ts", "test/fuzz/codecs/**/*.test.ts"],
          // Some compute for ten seconds and more, on a machine that is not slow.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...wholeProcesses,
          name: "kernels",
          include: ["kernels/**/*.test.ts", "test/kernels/**/*.test.ts"],
          // Two emulated GPUs keep two cores busy.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...wholeProcesses,
          name: "process",
          include: ["test/process/**/*.test.ts", "test/fuzz/wgsl/**/*.test.ts"],
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
                  PROJECTS_SHARE_RUNNERS: "on",
                  SEARCH_GAP_MS: "1",
                  // A scripted runner does not ping: it is silent when a test says so, not when the machine is slow.
                  PING_MS: "60000",
                  // Nor does it send heartbeats: its leases run out when a test says so.
                  LEASE_MS: "120000",
                  TEST_MIGRATIONS: await readD1Migrations(path.join(import.meta.dirname, "migrations")),
                },
              },
            };
          }),
        ],
        test: {
          ...everyCore,
          ...patient,
          name: "edge",
          isolate: false,
          include: ["test/edge/**/*.test.ts"],
          setupFiles: ["./test/edge/apply-migrations.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { ...builtEdge, name: "contract", include: ["test/contract/**/*.test.ts"] } },
      { test: { ...builtEdge, name: "e2e", include: ["test/e2e/**/*.test.ts", "test/fuzz/http/**/*.test.ts"] } },
      { test: { ...builtEdge, name: "browser", include: ["test/browser/**/*.test.ts"] } },
      // The client in other runtimes, which `npm run test:runtimes` installs.
      { test: { ...builtEdge, name: "runtimes", include: ["test/runtimes/**/*.test.ts"] } },
      // Needs a real GPU: `npm run test:device`.
      { test: { ...wholeProcesses, name: "device", include: ["test/device/**/*.test.ts"] } },
    ],
  },
});
