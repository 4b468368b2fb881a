/** Opens an entry, and leaves nothing behind where that fails: nobody could close it. */
export async function closeOnError<Opened>(open: () => Promise<Opened>, close: () => Promise<void>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    await close().catch(() => {}); // What failed first is what matters.
    throw error;
  }
}
