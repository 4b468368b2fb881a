/** Lets so many pieces of work be under way at once, null for any number; the others wait, first come first served. */
export function createGate(most: number | null): <Value>(work: () => Promise<Value>) => Promise<Value> {
  if (most === null) return (work) => work();
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await work();
    } finally {
      // The place goes to the next one as it is.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
