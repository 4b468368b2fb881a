const MB = 1_000_000;
const MiB = 2 ** 20;

/**
 * What Cloudflare allows on the paid plan, as far as the code depends on it, as published on 2026-11-28. Our own limits
 * are in `LIMITS`; a test holds them against these.
 */
export const PLATFORM_LIMITS = {
  /**
   * One invocation of the Worker or of an object: the processor time and the calls of other services that
   * `wrangler.toml` may set at most (30 s and 10,000 where it says nothing), and statements in D1. Each message of an
   * object's socket is an invocation. Then an isolate's memory, in which an object shares.
   * Source: https://developers.cloudflare.com/workers/platform/limits/, for D1
   * https://developers.cloudflare.com/d1/platform/limits/.
   */
  cpuMs: 300_000,
  subrequests: 10_000_000,
  databaseStatements: 1_000,
  memoryBytes: 128 * MiB,
  /**
   * Body of a request. The page says 100 MB; taken as binary, which it does not say.
   * Source: https://developers.cloudflare.com/workers/platform/limits/#request-limits.
   */
  requestBodyBytes: 100 * MiB,
  /**
   * D1: a row, string or bound parameter; parameters and bytes of one statement; a whole database.
   * Source: https://developers.cloudflare.com/d1/platform/limits/.
   */
  databaseValueBytes: 2 * MB,
  databaseParameters: 100,
  statementBytes: 100_000,
  databaseBytes: 10_000 * MB,
  /**
   * Durable Objects: a row of an object's SQLite, a message that it receives, and what is kept with a socket.
   * Source: https://developers.cloudflare.com/durable-objects/platform/limits/.
   */
  objectRowBytes: 2 * MB,
  socketMessageBytes: 32 * MiB,
  attachmentBytes: 16_384,
  /**
   * R2: the smallest part of a multipart upload, but for the last, and the number of parts.
   * Source: https://developers.cloudflare.com/r2/objects/multipart-objects/.
   */
  leastPartBytes: 5 * MiB,
  uploadParts: 10_000,
} as const;
