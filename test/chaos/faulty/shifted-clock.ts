/** The true time from which on each offset held. */
const jumps = [{ fromMs: Number.NEGATIVE_INFINITY, offsetMs: 0 }];
const trueNow = Date.now.bind(Date);

/** Lets this program's clock jump to this offset from the true one. */
export function shiftClock(offsetMs: number): void {
  jumps.push({ fromMs: trueNow(), offsetMs });
}

/** Reading of the clock at a true time. */
export function toShifted(trueMs: number): number {
  return trueMs + (jumps.findLast(({ fromMs }) => fromMs <= trueMs)?.offsetMs ?? 0);
}

/** `Date` by the shifted clock, for the whole program, be it an isolate or a process. */
export function installShiftedClock(): void {
  const TrueDate = Date;
  const now = () => toShifted(trueNow());
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget) as Date,
    apply: () => new TrueDate(now()).toString(),
    get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
  });
}

/** Current offset of the clock. */
export function clockOffsetMs(): number {
  return toShifted(trueNow()) - trueNow();
}
