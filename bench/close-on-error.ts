/** Opens an entry, and cleans up where that fails: its caller could not close it. */
export async function closeOnError<Opened>(open: () => Promise<Opened>, close: () => Promise<void>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    await close().catch(() => {}); // The first failure matters.
    throw error;
  }
}
