import type { MemoryTier, PoolState, RunnerMemory } from "../../protocol/fleet/memory.ts";
import { formatBytes, formatNumber, formatShare } from "../../words/numbers.ts";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import type { Resource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Contents of a runner's memory, as it reported them on request. */
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
    <DataTable
      rows={tiers.map((tier) => ({ ...tier, name: nameTier(tier), asked: tier.hits + tier.misses }))}
      keyOf={({ name }) => name}
      columns={[
        { name: "Tier", head: true, cell: ({ name }) => name },
        {
          name: "Used",
          cell: ({ name, usedBytes, capacityBytes }) =>
            capacityBytes === null ? (
              "–"
            ) : (
              <>
                {`${formatBytes(usedBytes)} of ${formatBytes(capacityBytes)}`}
                <progress aria-label={`Used of ${name}`} value={usedBytes} max={capacityBytes} />
              </>
            ),
        },
        { name: "Items", cell: ({ items }) => formatNumber(items) },
        {
          name: "Pinned",
          cell: ({ pinnedItems, pinnedBytes }) =>
            pinnedItems === 0 ? "none" : `${formatNumber(pinnedItems)}, ${formatBytes(pinnedBytes)}`,
        },
        {
          name: "Found there",
          cell: ({ hits, asked }) =>
            asked === 0 ? "not asked" : `${formatShare(hits / asked)} of ${formatNumber(asked)}`,
        },
        { name: "Put out", cell: ({ evictions }) => formatNumber(evictions) },
      ]}
    />
  );
}

function nameTier({ tier, deviceKey }: MemoryTier): string {
  return deviceKey === null ? tier : `${tier} of ${deviceKey}`;
}

function Pool({ pool: { deviceKey, counters } }: { pool: PoolState }) {
  if (counters === null)
    return (
      <p class="muted">{`Buffers of ${deviceKey}: none reported. Its process rests, or did not answer in time.`}</p>
    );
  const { liveBytes, idleBytes, peakBytes, capBytes } = counters;
  return (
    <p class="muted">
      {`Buffers of ${deviceKey}: ${formatBytes(liveBytes)} in use, ${formatBytes(idleBytes)} idle, ` +
        `${formatBytes(peakBytes)} at the most, of ${formatBytes(capBytes)}.`}
    </p>
  );
}
