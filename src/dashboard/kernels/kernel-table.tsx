import { useState } from "preact/hooks";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { Badge } from "../ui/badges.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { KERNEL_STATES, nameToAsk } from "../../words/kernels.ts";

/** Every kernel with what it takes, the submitted ones first; narrowed by what is typed. */
export function KernelTable({ kernels }: { readonly kernels: readonly ListedKernel[] }) {
  const [wanted, setWanted] = useState("");
  const ordered = kernels.toSorted((a, b) => Number(a.source === "announced") - Number(b.source === "announced"));
  const shown = ordered.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  return (
    <>
      <input
        type="search"
        class="narrow"
        aria-label="Show kernels with these letters"
        placeholder="Name or purpose"
        value={wanted}
        onInput={({ currentTarget }) => setWanted(currentTarget.value)}
      />
      <p class="unseen" role="status">{`${shown.length} of ${kernels.length} kernels`}</p>
      <table class="kernels">
        <thead>
          <tr>
            <th scope="col">Kernel</th>
            <th scope="col">From</th>
            <th scope="col">Sizes</th>
            <th scope="col">Type</th>
            <th scope="col">Variants</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((kernel) => (
            <KernelRow key={nameToAsk(kernel)} kernel={kernel} />
          ))}
        </tbody>
      </table>
      {shown.length === 0 && <p class="muted">No kernel has these letters.</p>}
    </>
  );
}

function KernelRow({ kernel }: { readonly kernel: ListedKernel }) {
  const { name, description, state, dimensions, dtypes, variants } = kernel;
  return (
    <tr>
      <th scope="row">
        <a href={`/${writeAddress({ view: "kernels", kernel: nameToAsk(kernel) })}`}>{name}</a>
        <small>{description}</small>
      </th>
      <td data-label="From">
        {state === undefined ? "the house" : <Badge tone={KERNEL_STATES[state][0]}>{KERNEL_STATES[state][1]}</Badge>}
      </td>
      <td data-label="Sizes">{dimensions.map((dimension) => dimension.name).join(", ")}</td>
      <td data-label="Type">{dtypes.join(", ")}</td>
      <td data-label="Variants">{variants.length}</td>
    </tr>
  );
}
