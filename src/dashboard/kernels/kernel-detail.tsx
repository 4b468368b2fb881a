import { kernelEndpoints } from "../../protocol/kernels/kernel-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { writeAddress } from "../ui/page-address.ts";
import { Panel, Refusal } from "../ui/panels.tsx";
import { ConfirmButton } from "../ui/buttons.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { BenchmarkForm } from "./benchmark-form.tsx";
import { CheckState } from "./check-state.tsx";
import { DefinitionTables } from "./definition-tables.tsx";
import { LeaderboardPanel } from "./leaderboard-panel.tsx";
import { SourcePanel } from "./source-panel.tsx";
import { TuningPanel } from "./tuning-panel.tsx";

interface KernelDetailProps extends ViewProps {
  readonly kernel: ListedKernel;
  /** It was deleted. */
  readonly onGone: () => void;
}

/** One kernel: its interface, leaderboard, source and tuning results. */
export function KernelDetail(props: KernelDetailProps) {
  const { client, subscribe, kernel, onPick, onGone } = props;
  const { id, source } = kernel;
  const [failure, setFailure] = useState<string | null>(null);
  const submitted = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        source === "submitted" && id !== undefined
          ? { stored: await client.call(kernelEndpoints.getKernel, { params: { id }, signal }) }
          : { stored: null },
      [client, source, id],
    ),
  );
  useRefreshOn(subscribe, "job", submitted.refresh);
  const stored = submitted.value?.stored ?? null;
  return (
    <>
      <Panel
        id="kernel"
        title={kernel.name}
        resource={submitted}
        aside={
          <span class="row-actions">
            {id !== undefined && source === "submitted" && (
              <ConfirmButton
                label={`Delete the kernel ${kernel.name}`}
                work={() => client.call(kernelEndpoints.deleteKernel, { params: { id } })}
                onDone={() => {
                  onPick({ kernel: undefined, device: undefined, tuning: undefined, axes: undefined });
                  onGone();
                }}
                onFail={setFailure}
              >
                delete
              </ConfirmButton>
            )}
            <a href={`/${writeAddress({ view: "kernels" })}`}>All kernels</a>
          </span>
        }
      >
        <Refusal text={failure} />
        <p class="explained">{kernel.description}</p>
        {stored !== null && <CheckState kernel={stored} />}
        <DefinitionTables kernel={kernel} definition={stored?.definition ?? null} />
      </Panel>
      {submitted.value !== null && (
        <>
          <LeaderboardPanel {...props} />
          <BenchmarkForm client={client} kernel={kernel} />
          <TuningPanel {...props} kernel={kernel} />
          <SourcePanel name={kernel.name} stored={stored} />
        </>
      )}
    </>
  );
}
