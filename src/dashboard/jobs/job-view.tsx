import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { modelEndpoints } from "../../protocol/models/model-endpoints.ts";
import { useCallback } from "preact/hooks";
import { type JobNames, listJobNames, NO_NAMES } from "../../words/jobs.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { JobDetail } from "./job-detail.tsx";
import { JobList } from "./job-list.tsx";

/** Jobs send events often; few of them concern a new model. */
const NAMES_GAP_MS = 10_000;

/** The view of jobs: a list by kind and state, or one job in depth. */
export function JobView(props: ViewProps) {
  const { client, subscribe, address } = props;
  const named = useResource(
    useCallback(
      async (signal: AbortSignal): Promise<JobNames> => {
        const [models, runners] = await Promise.all([
          client.call(modelEndpoints.listModels, { signal }),
          client.call(runnerEndpoints.listRunners, { signal }),
        ]);
        return listJobNames(models.items, runners.items);
      },
      [client],
    ),
    NAMES_GAP_MS,
  );
  useRefreshOn(subscribe, "job", named.refresh);
  const isReady = named.value !== null || named.error !== null;
  const names = named.value ?? NO_NAMES;
  return (
    <main id="content" tabIndex={-1} aria-busy={!isReady}>
      <h1 class="unseen">Jobs</h1>
      {!isReady && <p class="muted loading">Reading jobs …</p>}
      {isReady && address.job === undefined && <JobList {...props} names={names} />}
      {isReady && address.job !== undefined && (
        <JobDetail key={address.job} {...props} id={address.job} names={names} />
      )}
    </main>
  );
}
