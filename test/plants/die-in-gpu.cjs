// Preloaded: a driver that crashes whoever opens a GPU.
if (process.argv.includes("gpu") || process.argv[1]?.endsWith("show-adapters.ts")) process.abort();
