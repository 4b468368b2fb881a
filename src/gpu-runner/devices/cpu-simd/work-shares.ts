/** Words of the array from which threads take their work. */
const ROUND = 0;
const NEXT = 1;
const BUSY = 2;
const WORDS = 3;

/** Shared counters of threads: a round of work is cut into shares, and each free thread takes the next. */
export function createWorkShares(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT));
}

/** Wakes the threads for a round and waits until none finds a share any more. */
export async function runRound(shares: Int32Array<SharedArrayBuffer>, threads: number): Promise<void> {
  Atomics.store(shares, NEXT, 0);
  Atomics.store(shares, BUSY, threads);
  Atomics.add(shares, ROUND, 1);
  Atomics.notify(shares, ROUND);
  for (let busy = threads; busy > 0; busy = Atomics.load(shares, BUSY)) {
    await Atomics.waitAsync(shares, BUSY, busy).value;
  }
}

/** Loop of a thread: takes shares from 0 to before `count` in every round; never returns. */
export function serveRounds(
  shares: Int32Array<SharedArrayBuffer>,
  count: number,
  work: (share: number) => void,
): never {
  for (let round = 0; ; round++) {
    Atomics.wait(shares, ROUND, round);
    for (let share = Atomics.add(shares, NEXT, 1); share < count; share = Atomics.add(shares, NEXT, 1)) work(share);
    if (Atomics.sub(shares, BUSY, 1) === 1) Atomics.notify(shares, BUSY);
  }
}
