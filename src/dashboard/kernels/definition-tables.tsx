import type { KernelDefinition } from "../../protocol/kernels/kernel-definition.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { Fact } from "../ui/panels.tsx";
import { formatBytes, formatDuration } from "../../words/numbers.ts";
import { spellSize } from "../../words/kernels.ts";

interface DefinitionTablesProps {
  readonly kernel: ListedKernel;
  /** Of a submitted kernel. */
  readonly definition: KernelDefinition | null;
}

/** What a kernel takes and gives: sizes, bindings, variants with their axes, and how exact it has to be. */
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
    <table class="points">
      <caption>Sizes</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Default</th>
        </tr>
      </thead>
      <tbody>
        {dimensions.map(({ name, description, min, max, default: usual }) => (
          <tr key={name}>
            <th scope="row">
              {name}
              <small>{description}</small>
            </th>
            <td>{min}</td>
            <td>{max}</td>
            <td>{usual}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function BindingTable({ kernel, definition }: DefinitionTablesProps) {
  const bindings = definition?.bindings ?? kernel.bindings ?? [];
  if (bindings.length === 0) return null;
  return (
    <table class="points">
      <caption>Bindings of group 0</caption>
      <thead>
        <tr>
          <th scope="col">Number</th>
          <th scope="col">Name</th>
          <th scope="col">Access</th>
          <th scope="col">Type</th>
          {definition !== null && <th scope="col">Extents</th>}
        </tr>
      </thead>
      <tbody>
        {bindings.map(({ name, access, dtype }, index) => (
          <tr key={name}>
            <td>{index + 1}</td>
            <th scope="row">{name}</th>
            <td>{access}</td>
            <td>{dtype}</td>
            {definition !== null && <td>{definition.bindings[index]?.extents.map(spellSize).join(" × ")}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function AxisTable({ kernel: { variants, axes = {} } }: Pick<DefinitionTablesProps, "kernel">) {
  return (
    <table class="points">
      <caption>Variants and their axes</caption>
      <thead>
        <tr>
          <th scope="col">Variant</th>
          <th scope="col">Axis</th>
          <th scope="col">Values</th>
          <th scope="col">Default</th>
        </tr>
      </thead>
      <tbody>
        {variants.flatMap((variant) =>
          (axes[variant] ?? []).map(({ name, values, default: usual }) => (
            <tr key={`${variant} ${name}`}>
              <th scope="row">{variant}</th>
              <td>{name}</td>
              <td>{values.join(", ")}</td>
              <td>{usual}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}
