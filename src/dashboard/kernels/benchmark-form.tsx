import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { benchmark, listBenchmarkFields } from "../../words/kinds/benchmark.ts";
import { markSoftware } from "../../words/runners.ts";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { Panel } from "../ui/panels.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { nameToAsk } from "../../words/kernels.ts";

/** Queues a benchmark of a kernel, and leads to its job. */
export function BenchmarkForm({ client, kernel }: { readonly client: Client; readonly kernel: ListedKernel }) {
  const runners = useResource(
    useCallback(
      async (signal: AbortSignal) => (await client.call(runnerEndpoints.listRunners, { signal })).items,
      [client],
    ),
  );
  const [queued, setQueued] = useState<string | null>(null);
  const send = async ({ place, ...fields }: Record<string, unknown>) => {
    setQueued(null);
    const [runnerId, deviceKey] = typeof place === "string" ? place.split(" ") : [];
    const target = runnerId === undefined ? {} : { runnerId, deviceKey };
    const body = { kind: benchmark.kind, kernel: nameToAsk(kernel), ...fields, ...target };
    setQueued((await client.call(jobEndpoints.createJob, { body })).id);
  };
  return (
    <Panel id="benchmark" title="Benchmark" resource={runners}>
      <FieldForm
        label={`Benchmark ${kernel.name}`}
        submit="Queue the benchmark"
        work={send}
        fields={listBenchmarkFields(kernel, (runners.value ?? []).flatMap(listPlaces))}
      />
      <p role="status">
        {queued !== null && (
          <>
            Queued: <a href={`/${writeAddress({ view: "jobs", job: queued })}`}>see its job</a>.
          </>
        )}
      </p>
    </Panel>
  );
}

function listPlaces({ id, name, capabilities }: Runner): (readonly [string, string])[] {
  return (capabilities?.devices ?? [])
    .filter(({ kind }) => kind === "gpu")
    .map((device) => [`${id} ${device.key}`, markSoftware(`${name}: ${device.name} (${device.key})`, device.software)]);
}
