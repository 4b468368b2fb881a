import type { IncomingMessage } from "node:http";

/** How much of a body that nobody wants is taken off the wire, and how long that may take. */
const DISCARDED_BYTES = 16 * 2 ** 20;
const DISCARD_MS = 1_000;

/** A request's body, or null where it is longer than `maxBytes`. Rejects where the caller goes away. */
export function takeBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.byteLength;
    if (length <= maxBytes) chunks.push(chunk);
    else resolve(null);
  });
  request.once("end", () => {
    const [only] = chunks;
    resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
  request.once("close", () => reject(new Error("the caller went away")));
  return promise;
}

/** Takes what is left of a body off the wire, within bounds: a caller that still writes never reads the reply. */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.byteLength;
    if (length > DISCARDED_BYTES) resolve();
  });
  for (const event of ["end", "close"]) request.once(event, () => resolve());
  const timer = setTimeout(resolve, DISCARD_MS);
  await promise;
  clearTimeout(timer);
}
