import { alertEndpoints } from "../protocol/history/alert-endpoints.ts";
import type { ComponentType } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import type { Tone } from "../words/tone.ts";
import { Masthead } from "./masthead.tsx";
import { Badge } from "./ui/badges.tsx";
import { type FeedState, useFeed, useRefreshOn } from "./ui/hooks/use-feed.ts";
import { useResource } from "./ui/hooks/use-resource.ts";
import { useWriter } from "./ui/hooks/use-writer.ts";
import { useAddress, type ViewProps } from "./ui/view-props.ts";

const SAYINGS: Record<FeedState, readonly [Tone, string, string]> = {
  open: ["good", "Live", "Changes appear as they happen"],
  connecting: ["busy", "Connecting", "Opening the live feed"],
  waiting: ["warn", "Reconnecting", "The live feed broke off; it is tried again, with growing pauses"],
  stopped: ["bad", "Not live", "The live feed ended with an error; reload the page to try again"],
};

/** Whether what is shown is kept up to date. */
function ConnectionBadge({ state }: { state: FeedState }) {
  const [tone, word, title] = SAYINGS[state];
  return (
    <span role="status" class="connection">
      <Badge tone={tone} title={title}>
        {word}
      </Badge>
    </span>
  );
}

type View = ComponentType<ViewProps>;

/** The views; the code of each is fetched when it is first shown. */
const VIEWS = {
  overview: async (): Promise<View> => (await import("./overview/overview-view.tsx")).Overview,
  runners: async (): Promise<View> => (await import("./runners/runner-view.tsx")).RunnerView,
  models: async (): Promise<View> => (await import("./models/model-view.tsx")).ModelView,
  jobs: async (): Promise<View> => (await import("./jobs/job-view.tsx")).JobView,
  kernels: async (): Promise<View> => (await import("./kernels/kernel-view.tsx")).KernelView,
  evaluations: async (): Promise<View> => (await import("./evaluations/evaluation-view.tsx")).EvaluationView,
  archives: async (): Promise<View> => (await import("./archives/archive-view.tsx")).ArchiveView,
  validation: async (): Promise<View> => (await import("./validation/validation-view.tsx")).ValidationView,
  history: async (): Promise<View> => (await import("./history/history-view.tsx")).HistoryView,
  alerts: async (): Promise<View> => (await import("./alerts/alert-panel.tsx")).AlertPanel,
  settings: async (): Promise<View> => (await import("./settings/settings-view.tsx")).SettingsView,
};

/** A view by name, once its code is there. */
function LazyView({ name, ...props }: ViewProps & { readonly name: keyof typeof VIEWS }) {
  const [view, setView] = useState<{ readonly Component: View } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    VIEWS[name]().then(
      (Component) => setView({ Component }),
      (error: unknown) => setFailure(String(error)),
    );
  }, [name]);
  if (failure !== null) {
    return (
      <main id="content" tabIndex={-1}>
        <p role="alert">This view could not be fetched: {failure}</p>
      </main>
    );
  }
  if (view === null) return <main id="content" tabIndex={-1} aria-busy={true} />;
  return <view.Component {...props} />;
}

const COUNTED_ALERTS = 100;

/** The views of the page under one head, kept up to date by the live feed. */
export function Pages({ client, onLeave }: { client: Client; onLeave: () => void }) {
  const { state, subscribe } = useFeed(client);
  const [address, change] = useAddress();
  const writer = useWriter();
  const open = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(alertEndpoints.listAlerts, { query: { state: "open", limit: COUNTED_ALERTS }, signal }))
          .items.length,
      [client],
    ),
  );
  useRefreshOn(subscribe, "alert", open.refresh);
  const shared = { client, subscribe, address, onPick: change, writer };
  return (
    <>
      <Masthead
        current={address.view === "overview" ? "/" : `/#view=${address.view}`}
        openAlerts={open.value === COUNTED_ALERTS ? `${COUNTED_ALERTS - 1}+` : String(open.value ?? "")}
      >
        <ConnectionBadge state={state} />
        <button type="button" onClick={onLeave}>
          Forget key
        </button>
      </Masthead>
      <LazyView key={address.view} name={address.view} {...shared} />
    </>
  );
}
