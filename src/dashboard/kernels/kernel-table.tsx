import { useState } from "preact/hooks";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { WordBadge } from "../ui/badges.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { KERNEL_STATES, nameToAsk } from "../../words/kernels.ts";
import { DataTable } from "../ui/data-table.tsx";

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
      <DataTable
        class="kernels"
        rows={shown}
        keyOf={nameToAsk}
        columns={[
          {
            name: "Kernel",
            head: true,
            cell: (kernel) => (
              <a href={`/${writeAddress({ view: "kernels", kernel: nameToAsk(kernel) })}`}>{kernel.name}</a>
            ),
            note: ({ description }) => description,
          },
          {
            name: "From",
            cell: ({ state }) => (state === undefined ? "the house" : <WordBadge says={KERNEL_STATES[state]} />),
          },
          { name: "Sizes", cell: ({ dimensions }) => dimensions.map(({ name }) => name).join(", ") },
          { name: "Type", cell: ({ dtypes }) => dtypes.join(", ") },
          { name: "Variants", cell: ({ variants }) => variants.length },
        ]}
      />
      {shown.length === 0 && <p class="muted">No kernel has these letters.</p>}
    </>
  );
}
