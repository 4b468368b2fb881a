/**
 * Environment of a workerd whose isolates have the old space of a Worker: Cloudflare gives one 128 MB
 * (https://developers.cloudflare.com/workers/platform/limits/#memory). Miniflare passes the flag on.
 */
export const WORKER_HEAP = { MINIFLARE_WORKERD_V8_FLAGS: "--max-old-space-size=128" } as const;

/** Starts an edge in this process with the heap of a Worker. */
export async function withWorkerHeap<Started>(start: () => Promise<Started>): Promise<Started> {
  const [name, flags] = Object.entries(WORKER_HEAP)[0]!;
  const before = process.env[name];
  process.env[name] = flags;
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
}
