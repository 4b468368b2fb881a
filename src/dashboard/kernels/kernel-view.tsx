import { kernelEndpoints } from "../../protocol/kernels/kernel-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { KernelDetail } from "./kernel-detail.tsx";
import { KernelTable } from "./kernel-table.tsx";
import { nameToAsk } from "../../words/kernels.ts";
import { TuningPanel } from "./tuning-panel.tsx";

const PAGE = 100;
/** Jobs check kernels, and jobs send events often. */
const KERNEL_GAP_MS = 2_000;

/** The view of kernels: all of them and what was tuned, or one of them in depth. */
export function KernelView(props: ViewProps) {
  const { client, subscribe, address } = props;
  const kernels = useResource(
    useCallback((signal: AbortSignal) => readKernels(client, signal), [client]),
    KERNEL_GAP_MS,
  );
  useRefreshOn(subscribe, "job", kernels.refresh);
  const { value, error } = kernels;
  const shown = value?.find((kernel) => nameToAsk(kernel) === address.kernel);
  return (
    <main id="content" tabIndex={-1} aria-busy={value === null && error === null}>
      <h1 class="unseen">Kernels</h1>
      {shown !== undefined ? (
        <KernelDetail key={address.kernel} {...props} kernel={shown} onGone={kernels.refresh} />
      ) : (
        <>
          <Panel
            id="kernels"
            title="Kernels"
            resource={kernels}
            aside={value !== null && <span class="muted">{countKernels(value)}</span>}
          >
            {value === null && error === null && <p class="muted loading">Reading kernels …</p>}
            {value !== null && address.kernel !== undefined && (
              <p class="notice" role="status">{`There is no kernel ${address.kernel} any more.`}</p>
            )}
            {value?.length === 0 && (
              <EmptyState says="No runner has announced a kernel yet." command={nextCommands.registerRunner}>
                Runners bring the house's kernels with them:
              </EmptyState>
            )}
            {value !== null && value.length > 0 && <KernelTable kernels={value} />}
            {value?.every(({ source }) => source === "announced") === true && value.length > 0 && (
              <EmptyState says="Nobody has submitted a kernel yet." command={nextCommands.submitKernel}>
                This has one checked and timed on your runners, beside the house's:
              </EmptyState>
            )}
          </Panel>
          {value !== null && <TuningPanel {...props} />}
        </>
      )}
    </main>
  );
}

/** The first page has the runners' own kernels; submitted kernels may fill several pages. */
function readKernels(client: Client, signal: AbortSignal): Promise<ListedKernel[]> {
  return Array.fromAsync(listAll(client, kernelEndpoints.listKernels, { query: { limit: PAGE }, signal }));
}

function countKernels(kernels: readonly ListedKernel[]): string {
  const submitted = kernels.filter(({ source }) => source === "submitted").length;
  return `${kernels.length - submitted} of the house, ${submitted} submitted`;
}
