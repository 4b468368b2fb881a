import type { KernelDefinition } from "../../protocol/kernels/kernel-definition.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { Fact } from "../ui/panels.tsx";
import { formatBytes, formatDuration } from "../../words/numbers.ts";
import { spellSize } from "../../words/kernels.ts";
import { DataTable } from "../ui/data-table.tsx";

interface DefinitionTablesProps {
  readonly kernel: ListedKernel;
  /** Definition of a submitted kernel; null otherwise. */
  readonly definition: KernelDefinition | null;
}

/** Interface of a kernel: sizes, bindings, variants with their axes, and tolerances. */
export function DefinitionTables({ kernel, definition }: DefinitionTablesProps) {
  return (
    <>
      {definition !== null && <DefinitionFacts definition={definition} />}
      <div class="definition">
        <SizeTable dimensions={kernel.dimensions} />
        <BindingTable kernel={kernel} definition={definition} />
        {Object.values(kernel.axes ?? {}).some((axes) => axes.length > 0) && <AxisTable kernel={kernel} />}
      </div>
      {kernel.features !== undefined && kernel.features.length > 0 && (
        <p>{`It needs a device with ${kernel.features.join(", ")}.`}</p>
      )}
    </>
  );
}

function DefinitionFacts({ definition: { tolerance, limits, passes } }: { readonly definition: KernelDefinition }) {
  return (
    <dl class="facts definition-facts">
      <Fact name="Tolerance">
        {tolerance === undefined
          ? "that of what it competes with"
          : `${tolerance.absolute} + ${tolerance.relative} of the right answer: ${tolerance.reason}`}
      </Fact>
      <Fact name="Passes">
        {passes
          .map(({ entryPoint, workgroups }) => `${entryPoint} in ${workgroups.map(spellSize).join(" × ")} workgroups`)
          .join(", ")}
      </Fact>
      <Fact name="Limits">{`${formatDuration(limits.timeoutMs)}, ${formatBytes(limits.maxBytes)}`}</Fact>
    </dl>
  );
}

function SizeTable({ dimensions }: Pick<ListedKernel, "dimensions">) {
  return (
    <DataTable
      class="points"
      caption="Sizes"
      showsCaption
      rows={dimensions}
      keyOf={({ name }) => name}
      columns={[
        { name: "Name", head: true, cell: ({ name }) => name, note: ({ description }) => description },
        { name: "From", cell: ({ min }) => min },
        { name: "To", cell: ({ max }) => max },
        { name: "Default", cell: ({ default: usual }) => usual },
      ]}
    />
  );
}

type Binding = Pick<NonNullable<ListedKernel["bindings"]>[number], "name" | "access" | "dtype">;

function BindingTable({ kernel, definition }: DefinitionTablesProps) {
  const bindings = definition?.bindings ?? kernel.bindings ?? [];
  if (bindings.length === 0) return null;
  return (
    <DataTable<Binding>
      class="points"
      caption="Bindings of group 0"
      showsCaption
      rows={bindings}
      keyOf={({ name }) => name}
      columns={[
        { name: "Number", cell: (_, index) => index + 1 },
        { name: "Name", head: true, cell: ({ name }) => name },
        { name: "Access", cell: ({ access }) => access },
        { name: "Type", cell: ({ dtype }) => dtype },
        ...(definition === null
          ? []
          : [
              {
                name: "Extents",
                cell: (_: Binding, index: number) => definition.bindings[index]?.extents.map(spellSize).join(" × "),
              },
            ]),
      ]}
    />
  );
}

function AxisTable({ kernel: { variants, axes = {} } }: Pick<DefinitionTablesProps, "kernel">) {
  return (
    <DataTable
      class="points"
      caption="Variants and their axes"
      showsCaption
      rows={variants.flatMap((variant) => (axes[variant] ?? []).map((axis) => ({ variant, ...axis })))}
      keyOf={({ variant, name }) => `${variant} ${name}`}
      columns={[
        { name: "Variant", head: true, cell: ({ variant }) => variant },
        { name: "Axis", cell: ({ name }) => name },
        { name: "Values", cell: ({ values }) => values.join(", ") },
        { name: "Default", cell: ({ default: usual }) => usual },
      ]}
    />
  );
}
