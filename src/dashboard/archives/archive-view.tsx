import { useCallback } from "preact/hooks";
import { archiveEndpoints, type StoredArchive } from "../../protocol/policies/archive.ts";
import { ArchivePanel } from "../plots/archive-panel.tsx";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { formatNumber, formatShare } from "../../words/numbers.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { DataTable } from "../ui/data-table.tsx";
import { ShowButton } from "../ui/buttons.tsx";

const ARCHIVES_SHOWN = 20;

/** The view of archives of elites: the latest of them, and one as a map. */
export function ArchiveView({ client, subscribe, address, onPick }: ViewProps) {
  const archives = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(archiveEndpoints.listArchives, { query: { limit: ARCHIVES_SHOWN }, signal })).items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "job", archives.refresh);
  const { value, error } = archives;
  const shown = address.archive ?? value?.[0]?.id ?? null;
  return (
    <main id="content" tabIndex={-1} aria-busy={value === null && error === null}>
      <h1 class="unseen">Archives</h1>
      <Panel id="archives" title="Archives of elites" resource={archives}>
        {value === null && error === null && <p class="muted loading">Reading archives …</p>}
        {value?.length === 0 && (
          <EmptyState says="No search has left an archive yet." command={nextCommands.submitDiversity}>
            A search for diversity keeps the best policy for every kind of behaviour:
          </EmptyState>
        )}
        {value !== null && value.length > 0 && (
          <ArchiveTable archives={value} shown={shown} onShow={(archive) => onPick({ archive })} />
        )}
      </Panel>
      {shown !== null && <ArchivePanel key={shown} client={client} id={shown} />}
    </main>
  );
}

interface ArchiveTableProps {
  readonly archives: readonly StoredArchive[];
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
}

function ArchiveTable({ archives, shown, onShow }: ArchiveTableProps) {
  return (
    <DataTable
      class="judgements"
      rows={archives}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Environment",
          head: true,
          title: ({ id }) => id,
          cell: ({ environment }) => environment,
          note: ({ dims, prunedFrom }) => `${dims.join(" × ")} cells${prunedFrom === null ? "" : ", pruned"}`,
        },
        { name: "Coverage", cell: ({ coverage }) => formatShare(coverage), note: ({ filled }) => `${filled} elites` },
        {
          name: "QD-score",
          cell: ({ qdScore }) => formatNumber(qdScore),
          note: ({ offset }) => `above ${formatNumber(offset)}`,
        },
        { name: "Best", cell: ({ best }) => (best === null ? "none" : formatNumber(best)) },
        { name: "Kept", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
        {
          name: "Map",
          cell: ({ id, environment, filled }) => (
            <ShowButton
              isShown={id === shown}
              onShow={() => onShow(id)}
              what={`the archive of ${environment}, ${filled} elites`}
            />
          ),
        },
      ]}
    />
  );
}
