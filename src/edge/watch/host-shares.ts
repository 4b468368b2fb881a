import type { HealthReport } from "../../protocol/health.ts";

/** Of all cores: what the runner took, and what other processes took. */
export interface HostShares {
  readonly own: number;
  readonly others: number;
}

/** Where the system does not tell what the runner took, its devices' busy time stands for it, one core each. */
export function hostSharesOf({ host, devices, jobShare }: HealthReport): HostShares {
  const busyCores = devices.reduce((sum, { busyShare }) => sum + busyShare, 0);
  const own = host.ownShare ?? Math.min(host.busyShare, Math.max(jobShare, busyCores / host.logicalCores));
  return { own, others: Math.max(0, host.busyShare - own) };
}
