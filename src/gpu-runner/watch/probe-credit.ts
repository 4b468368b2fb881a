/** Share of a device's time that probes may take. */
const PROBE_SHARE = 0.01;
/** What a device saves up at most: so much a sudden slowness may cost at once. */
const MOST_CREDIT_MS = 1_000;

/** Time that probes may still take of a device, in milliseconds of one monotonic clock. */
export interface ProbeCredit {
  readonly ms: number;
  readonly atMs: number;
}

/** A device that was not probed yet. */
export function fullCredit(nowMs: number): ProbeCredit {
  return { ms: MOST_CREDIT_MS, atMs: nowMs };
}

/** A token bucket (ITU-T I.371 knows it as the leaky bucket): credit grows with the time, up to what may be saved. */
export function earnCredit({ ms, atMs }: ProbeCredit, nowMs: number): ProbeCredit {
  return { ms: Math.min(MOST_CREDIT_MS, ms + PROBE_SHARE * (nowMs - atMs)), atMs: nowMs };
}

/** Takes off what a probe took; one that took more than was there leaves a debt, so that slow models are probed seldom. */
export function spendCredit(credit: ProbeCredit, tookMs: number): ProbeCredit {
  return { ...credit, ms: credit.ms - tookMs };
}
