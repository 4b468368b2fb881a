import { useCallback } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { PlacementSweep } from "../protocol/sweep.ts";
import { Fact } from "./fact.tsx";
import { formatBytes } from "./format.ts";
import { SvgPlot } from "./svg-plot.tsx";
import { useResource } from "./use-resource.ts";

/** The batch sizes of one placement: which to take, how many are safe, and the plot. */
export function SweepFigure({ client, id }: { client: Client; id: string }) {
  const { value, error } = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(endpoints.getPlacementSweep, { params: { id }, signal }),
      [client, id],
    ),
  );
  return (
    <>
      {value === null ? (
        <p class="muted">{error === null ? "Reading batch sizes …" : `They could not be read: ${error.message}`}</p>
      ) : (
        <SweepFacts sweep={value} />
      )}
      <SvgPlot client={client} endpoint={endpoints.plotSweep} id={id} />
    </>
  );
}

function SweepFacts({ sweep: { recommended, knee, memory, safe } }: { sweep: PlacementSweep }) {
  return (
    <dl class="facts">
      <Fact name="Recommended batch">
        {recommended.rows ?? "none"}
        <small>{recommended.detail}</small>
      </Fact>
      <Fact name="Knee">{knee ?? "none: it gains as far as it was measured"}</Fact>
      <Fact name="Memory">
        {memory === null
          ? "not known"
          : `${formatBytes(memory.baseBytes)}, and ${formatBytes(memory.bytesPerRow)} a row`}
      </Fact>
      <Fact name="Largest safe batch">{safe === null ? "not known" : describeSafe(safe)}</Fact>
    </dl>
  );
}

function describeSafe({ rows, budgetBytes, of, measured }: NonNullable<PlacementSweep["safe"]>): string {
  const whose = of === "asked" ? "asked for" : `the safe share of the ${of}'s memory`;
  return `${rows} within ${formatBytes(budgetBytes)}, ${whose}${measured ? "" : "; so many were never run"}`;
}
