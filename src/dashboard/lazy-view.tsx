import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ViewProps } from "./view-props.ts";

type View = ComponentType<ViewProps>;

/** The views beside the first: each comes with its own code when it is first wanted. */
const VIEWS = {
  runners: async (): Promise<View> => (await import("./runners/runner-view.tsx")).RunnerView,
  models: async (): Promise<View> => (await import("./model-view.tsx")).ModelView,
  jobs: async (): Promise<View> => (await import("./jobs/job-view.tsx")).JobView,
  kernels: async (): Promise<View> => (await import("./kernels/kernel-view.tsx")).KernelView,
  evaluations: async (): Promise<View> => (await import("./evaluations/evaluation-view.tsx")).EvaluationView,
  archives: async (): Promise<View> => (await import("./archive-view.tsx")).ArchiveView,
  validation: async (): Promise<View> => (await import("./validation-view.tsx")).ValidationView,
  history: async (): Promise<View> => (await import("./history-view.tsx")).HistoryView,
  alerts: async (): Promise<View> => (await import("./alert-panel.tsx")).AlertPanel,
  settings: async (): Promise<View> => (await import("./settings/settings-view.tsx")).SettingsView,
};

/** A view by name, once its code is there. */
export function LazyView({ name, ...props }: ViewProps & { readonly name: keyof typeof VIEWS }) {
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
