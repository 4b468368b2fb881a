import { type Intervals, type Lease, PING } from "../protocol/link.ts";
import type { LinkChannel } from "./link-channel.ts";

/** Silent for so many ping periods, a peer is dead. */
const SILENT_PERIODS = 3;

/**
 * Signs of life on one connection: pings, that the platform answers, and heartbeats that renew the
 * leases of running jobs. `note` tells that something was heard; `onSilent` that nothing was.
 */
export function startHeartbeat(
  channel: LinkChannel,
  intervals: Intervals,
  running: () => Lease[],
  onSilent: () => void,
): { note(): void; stop(): void } {
  let heardAtMs = performance.now();
  const ping = setInterval(() => {
    if (performance.now() - heardAtMs > SILENT_PERIODS * intervals.pingMs) onSilent();
    else channel.sendRaw(PING);
  }, intervals.pingMs);
  const beat = setInterval(() => channel.send({ type: "heartbeat", running: running() }), intervals.heartbeatMs);
  return {
    note: () => {
      heardAtMs = performance.now();
    },
    stop: () => {
      clearInterval(ping);
      clearInterval(beat);
    },
  };
}
