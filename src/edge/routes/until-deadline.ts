/** What a work comes to within so many milliseconds, else null. No timer stays behind it: a context holds few. */
export async function untilDeadline<Value>(leftMs: number, work: Promise<Value>): Promise<Value | null> {
  const over = new AbortController();
  const late = scheduler.wait(leftMs, { signal: over.signal }).then(
    () => null,
    () => null,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
