/** Runs work in between, and always ends what was begun. */
export async function between(
  begin: () => Promise<void> | void,
  meanwhile: () => Promise<void>,
  end: () => Promise<void> | void,
): Promise<void> {
  await begin();
  try {
    await meanwhile();
  } finally {
    await end();
  }
}
