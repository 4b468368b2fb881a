import { useCallback, useMemo, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { archiveEndpoints, type ElitePage, type StoredArchive } from "../../protocol/policies/archive.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ArchiveCanvas } from "./archive-canvas.tsx";
import { type ArchiveMap, eliteAt, mapArchive, type MapPlace, placeOf } from "./map-cells.ts";
import { formatNumber, formatShare } from "../../words/numbers.ts";
import { Panel } from "../ui/panels.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";

type Elite = ElitePage["items"][number];

const TABLE_ROWS = 12;

/** One archive: its figures, its elites as a map, and the best of them as a table. */
export function ArchivePanel({ client, id }: { client: Client; id: string }) {
  const read = useResource(useCallback((signal: AbortSignal) => readArchive(client, id, signal), [client, id]));
  const { value } = read;
  return (
    <Panel
      id="archive"
      title={value === null ? "Archive" : `Elites of ${value.archive.environment}`}
      aside={value !== null && <span class="muted">{describe(value.archive)}</span>}
      resource={read}
    >
      {value === null ? (
        read.error === null && <p class="muted loading">Reading elites …</p>
      ) : (
        <Map archive={value.archive} elites={value.elites} />
      )}
    </Panel>
  );
}

async function readArchive(client: Client, id: string, signal: AbortSignal) {
  const params = { id };
  const archive = await client.call(archiveEndpoints.getArchive, { params, signal });
  const elites: Elite[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { limit: LIMITS.listedElites, ...(cursor !== undefined && { cursor }) };
    const page: ElitePage = await client.call(archiveEndpoints.listElites, { params, query, signal });
    elites.push(...page.items);
    cursor = page.nextCursor;
  }
  return { archive, elites };
}

function describe({ dims, filled, coverage, qdScore, offset, genomes }: StoredArchive): string {
  const kept = genomes.format === "float32" ? "" : `; genomes as ${genomes.format}`;
  const score = `QD-score ${formatNumber(qdScore)} above ${formatNumber(offset)}`;
  return `${filled} of ${dims.join(" × ")} cells, ${formatShare(coverage)}; ${score}${kept}`;
}

function Map({ archive, elites }: { archive: StoredArchive; elites: readonly Elite[] }) {
  const [place, setPlace] = useState<MapPlace | null>(null);
  const map = useMemo(() => mapArchive(archive, elites), [archive, elites]);
  if (elites.length === 0) return <p class="muted">This archive is empty.</p>;
  const others = archive.dims.length > 2 ? ", the best along the other measures" : "";
  return (
    <figure class="archive-map">
      <div class="readout">
        <span class="heat-legend" aria-hidden="true">
          {formatNumber(map.low)} <i /> {formatNumber(map.high)}
        </span>
        <output class="muted">
          {place === null ? "Point at a cell, or move through them with the arrow keys." : tellCell(map, place)}
        </output>
      </div>
      <ArchiveCanvas
        map={map}
        place={place}
        label={`Fitness of ${elites.length} elites of ${archive.environment} by two measures${others}, from ${formatNumber(map.low)} to ${formatNumber(map.high)}`}
        onPlace={setPlace}
      />
      <figcaption class="muted">{`Measure 1 to the right, measure 2 upwards${others}`}</figcaption>
      <BestTable map={map} />
    </figure>
  );
}

function BestTable({ map }: { map: ArchiveMap }) {
  const best = [...map.elites].toSorted(([, a], [, b]) => b.fitness - a.fitness).slice(0, TABLE_ROWS);
  return (
    <details>
      <summary>The best as a table</summary>
      <DataTable
        class="points"
        rows={best.map(([pair, elite]) => ({ pair, elite, ...placeOf(map, pair) }))}
        keyOf={({ pair }) => pair}
        columns={[
          { name: "Fitness", cell: ({ elite }) => formatNumber(elite.fitness) },
          { name: "Measures", cell: ({ elite }) => tellMeasures(elite) },
          { name: "Column", cell: ({ column }) => column },
          { name: "Row", cell: ({ row }) => row },
        ]}
      />
    </details>
  );
}

function tellCell(map: ArchiveMap, place: MapPlace): string {
  const where = `column ${place.column}, row ${place.row}`;
  const elite = eliteAt(map, place);
  if (elite === undefined) return `${where}: nobody got here`;
  return `${where}: fitness ${formatNumber(elite.fitness)}, measures ${tellMeasures(elite)}`;
}

function tellMeasures({ measures }: Elite): string {
  return measures.map(formatNumber).join(", ");
}
