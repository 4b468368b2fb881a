/** Lets other requests of this isolate have their turn. */
export function endTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
