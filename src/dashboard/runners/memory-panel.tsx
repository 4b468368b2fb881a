import type { MemoryTier, PoolState, RunnerMemory } from "../../protocol/fleet/memory.ts";
import { formatBytes, formatNumber, formatShare } from "../../words/numbers.ts";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import type { Resource } from "../ui/hooks/use-resource.ts";

/** What lies where in a runner's memory, as it told when it was asked. */
export function MemoryPanel({ memory }: { memory: Resource<RunnerMemory | null> }) {
  const { value } = memory;
  return (
    <Panel
      id="memory"
      title="Memory tiers"
      resource={memory}
      aside={
        <span class="panel-end">
          {value !== null && (
            <span class="muted">
              told at <Timestamp at={value.reportedAt} />
            </span>
          )}
          <button type="button" onClick={memory.refresh}>
            Ask again<span class="unseen"> what lies in memory</span>
          </button>
        </span>
      }
    >
      {value === null ? (
        memory.error === null && <p class="muted">Only a runner that is connected can tell, and this one is not.</p>
      ) : (
        <>
          <TierTable tiers={value.tiers} />
          {value.pools.map((pool) => (
            <Pool key={pool.deviceKey} pool={pool} />
          ))}
        </>
      )}
    </Panel>
  );
}

function TierTable({ tiers }: { tiers: readonly MemoryTier[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Tier</th>
          <th scope="col">Used</th>
          <th scope="col">Items</th>
          <th scope="col">Pinned</th>
          <th scope="col">Found there</th>
          <th scope="col">Put out</th>
        </tr>
      </thead>
      <tbody>
        {tiers.map((tier) => (
          <TierRow key={`${tier.tier} ${tier.deviceKey}`} tier={tier} />
        ))}
      </tbody>
    </table>
  );
}

function TierRow({ tier: told }: { tier: MemoryTier }) {
  const { tier, deviceKey, capacityBytes, usedBytes, items, pinnedItems, pinnedBytes, hits, misses, evictions } = told;
  const name = deviceKey === null ? tier : `${tier} of ${deviceKey}`;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label="Used">
        {capacityBytes === null ? "–" : `${formatBytes(usedBytes)} of ${formatBytes(capacityBytes)}`}
        {capacityBytes !== null && <progress aria-label={`Used of ${name}`} value={usedBytes} max={capacityBytes} />}
      </td>
      <td data-label="Items">{formatNumber(items)}</td>
      <td data-label="Pinned">
        {pinnedItems === 0 ? "none" : `${formatNumber(pinnedItems)}, ${formatBytes(pinnedBytes)}`}
      </td>
      <td data-label="Found there">
        {hits + misses === 0 ? "not asked" : `${formatShare(hits / (hits + misses))} of ${formatNumber(hits + misses)}`}
      </td>
      <td data-label="Put out">{formatNumber(evictions)}</td>
    </tr>
  );
}

function Pool({ pool: { deviceKey, counters } }: { pool: PoolState }) {
  if (counters === null) return <p class="muted">{`${deviceKey} did not tell of its buffers in time.`}</p>;
  const { liveBytes, idleBytes, peakBytes, capBytes } = counters;
  return (
    <p class="muted">
      {`Buffers of ${deviceKey}: ${formatBytes(liveBytes)} in use, ${formatBytes(idleBytes)} idle, ` +
        `${formatBytes(peakBytes)} at the most, of ${formatBytes(capBytes)}.`}
    </p>
  );
}
