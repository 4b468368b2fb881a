import { useCallback } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import { type JobNames, listJobNames } from "../job-names.ts";
import { useResource } from "../use-resource.ts";
import type { ViewProps } from "../view-props.ts";
import { JobDetail } from "./job-detail.tsx";
import { JobList } from "./job-list.tsx";

const NO_NAMES = listJobNames([], []);

/** The view of jobs: a list by kind and state, or one job in depth. */
export function JobView(props: ViewProps) {
  const { client, address } = props;
  const named = useResource(
    useCallback(
      async (signal: AbortSignal): Promise<JobNames> => {
        const [models, runners] = await Promise.all([
          client.call(endpoints.listModels, { signal }),
          client.call(endpoints.listRunners, { signal }),
        ]);
        return listJobNames(models.items, runners.items);
      },
      // Another job may be of a model that is new.
      [client, address.job],
    ),
  );
  const names = named.value ?? NO_NAMES;
  return (
    <main id="content" tabIndex={-1} aria-busy={named.value === null && named.error === null}>
      <h1 class="unseen">Jobs</h1>
      {address.job === undefined ? (
        <JobList {...props} names={names} />
      ) : (
        <JobDetail key={address.job} {...props} id={address.job} names={names} />
      )}
    </main>
  );
}
