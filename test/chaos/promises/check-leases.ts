import type { Ledger, SeenOffer } from "./ledger.ts";

/** As the runners were offered them: an epoch is one runner's alone, and with the epoch no attempt falls. */
export function checkLeases({ offers }: Ledger): string[] {
  return [...Map.groupBy(offers, ({ lease }) => lease.jobId)].flatMap(([jobId, own]) => checkJob(jobId, own));
}

function checkJob(jobId: string, offers: readonly SeenOffer[]): string[] {
  const byEpoch = offers.toSorted((a, b) => a.lease.epoch - b.lease.epoch);
  return byEpoch.flatMap((offer, index) => {
    const before = byEpoch[index - 1];
    if (before === undefined) return [];
    const { epoch } = offer.lease;
    const found: string[] = [];
    if (before.lease.epoch === epoch)
      found.push(`${jobId}: epoch ${epoch} was given to ${before.runner} and ${offer.runner}`);
    if (before.attempt > offer.attempt) {
      found.push(`${jobId}: attempt ${offer.attempt} of epoch ${epoch} follows attempt ${before.attempt}`);
    }
    return found;
  });
}
