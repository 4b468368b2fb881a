import { useCallback } from "preact/hooks";
import { projectEndpoints } from "../../protocol/service/project.ts";
import type { Quota } from "../../protocol/service/quota.ts";
import { PAGE_NUMBERS } from "../../words/numbers.ts";
import { describeUse, nameQuota } from "../../words/quotas.ts";
import { DataTable } from "../ui/data-table.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { capitalise, Panel } from "../ui/panels.tsx";
import type { PartProps } from "./part-shell.tsx";

/** How much the project of the key uses of what it may have. */
export function QuotaPart({ client }: PartProps) {
  const project = useResource(
    useCallback((signal: AbortSignal) => client.call(projectEndpoints.getProject, { signal }), [client]),
  );
  return (
    <Panel id="quotas" title="Quotas" resource={project}>
      <p class="muted explained">
        What the project {project.value === null ? "" : <strong>{project.value.project} </strong>}
        uses, and may have. The operator sets other limits by <code>millrace projects quotas</code>.
      </p>
      {project.value === null && project.error === null && <p class="muted loading">Reading quotas …</p>}
      {project.value !== null && <QuotaTable quotas={project.value.quotas} />}
    </Panel>
  );
}

function QuotaTable({ quotas }: { readonly quotas: readonly Quota[] }) {
  return (
    <DataTable
      class="quotas"
      rows={quotas}
      keyOf={({ name }) => name}
      columns={[
        { name: "What", head: true, cell: ({ name }) => capitalise(nameQuota(name)), note: ({ name }) => name },
        { name: "Used", cell: (quota) => describeUse(quota, PAGE_NUMBERS) },
        { name: "Share", cell: (quota) => <Share quota={quota} /> },
        {
          name: "Limit",
          cell: ({ isSet }) => (isSet ? "set by the operator" : <span class="muted">default</span>),
        },
      ]}
    />
  );
}

/** A bar that is full once there is no more room: a limit may also be zero. */
function Share({ quota: { name, used, limit } }: { readonly quota: Quota }) {
  const isFull = used >= limit;
  return (
    <progress
      class={isFull ? "full" : undefined}
      aria-label={`Share of the quota of ${nameQuota(name)}`}
      value={isFull ? 1 : used}
      max={isFull ? 1 : limit}
    />
  );
}
