import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Cloudflare's limit for a Worker on the free plan, compressed. */
const LIMIT_BYTES = 3 * 2 ** 20;

const bundle = await readFile(join(import.meta.dirname, "../../dist/edge/worker.js"));
const compressedBytes = gzipSync(bundle).byteLength;
process.stdout.write(`edge bundle: ${Math.round(compressedBytes / 1_024)} KiB compressed of ${LIMIT_BYTES / 1_024}\n`);
if (compressedBytes > LIMIT_BYTES) process.exit(1);
