/** What was begun is ended whatever comes between. */
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
