import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { ApiForm } from "../ui/forms/api-form.tsx";
import { InputField, SelectField } from "../ui/forms/field.tsx";
import { formatNumber } from "../../words/numbers.ts";
import { writeAddress } from "../ui/page-address.ts";
import { Panel } from "../ui/panels.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { nameToAsk } from "../../words/kernels.ts";

const ITERATIONS = 100;

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
    const body = { kind: "benchmark" as const, kernel: nameToAsk(kernel), ...fields, ...target };
    setQueued((await client.call(jobEndpoints.createJob, { body })).id);
  };
  return (
    <Panel id="benchmark" title="Benchmark" resource={runners}>
      <ApiForm label={`Benchmark ${kernel.name}`} submit="Queue the benchmark" work={send}>
        {kernel.dimensions.map(({ name, description, min, max, default: usual }) => (
          <InputField
            key={name}
            name={`#/shape/${name}`}
            label={name}
            hint={`${description}${description === "" ? "" : "; "}${formatNumber(min)} to ${formatNumber(max)}`}
            type="number"
            value={usual}
          />
        ))}
        {kernel.dtypes.length > 1 && (
          <SelectField name="#/dtype" label="Type" options={kernel.dtypes.map((dtype) => [dtype, dtype] as const)} />
        )}
        {kernel.source === "announced" && (
          <SelectField
            name="#/variant"
            label="Variant"
            hint="A named one is never tuned"
            options={[["", "the best that is known"], ...kernel.variants.map((name) => [name, name] as const)]}
          />
        )}
        <InputField
          name="#/iterations"
          label="Iterations"
          hint="20 or more are ranked"
          type="number"
          value={ITERATIONS}
        />
        <SelectField
          name="#/place"
          label="Device"
          options={[["", "whichever is done first"], ...(runners.value ?? []).flatMap(listPlaces)]}
        />
      </ApiForm>
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
    .map((device) => [
      `${id} ${device.key}`,
      `${name}: ${device.name} (${device.key}${device.software ? ", software" : ""})`,
    ]);
}
