/** What a work comes to within so many milliseconds, else null. No timer stays behind it: a context holds few. */
export async function untilDeadline<Value>(leftMs: number, work: Promise<Value>): Promise<Value | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, leftMs, null);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
