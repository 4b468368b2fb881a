import { comparisonEndpoints } from "../../protocol/history/comparison-endpoints.ts";
import { historyEndpoints } from "../../protocol/history/history-endpoints.ts";
import { useCallback, useMemo } from "preact/hooks";
import type { Series } from "../../protocol/history/series.ts";
import { kindOf, type SideKind, type SideOption, sideOptions, usableKinds, usualSides } from "./compare-sides.ts";
import { CompareTable } from "./compare-table.tsx";
import { Panel } from "../ui/panels.tsx";
import { nameHardware, nameSubject } from "../../words/history.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { Picker } from "../ui/forms/picker.tsx";

const RUNS_OFFERED = 30;
const YEAR_MS = 366 * 86_400_000;
const KIND_NAMES: Record<SideKind, string> = { label: "labels", device: "devices", window: "times", run: "runs" };

interface ComparePanelProps extends ViewProps {
  /** The series that is shown: its subject and metric are compared. */
  readonly shown: Series;
  readonly series: readonly Series[];
}

/** Two labels, devices, times or runs of one subject side by side. */
export function ComparePanel({ client, address, onPick, shown, series }: ComparePanelProps) {
  const alike = series.filter((item) => nameSubject(item) === nameSubject(shown) && item.metric === shown.metric);
  const { id } = shown;
  const runs = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        const from = new Date(Date.now() - YEAR_MS).toISOString();
        return (
          await client.call(historyEndpoints.listPoints, { query: { series: id, from, limit: RUNS_OFFERED }, signal })
        ).points;
      },
      [client, id],
    ),
  );
  const devices = new Map(alike.map(({ fingerprintId, fingerprint }) => [fingerprintId, nameHardware(fingerprint)]));
  const options = useMemo(() => sideOptions(alike, runs.value ?? [], Date.now()), [alike.length, id, runs.value]);
  const usable = usableKinds(options);
  const kind = kindOf(address.b) ?? usable[0] ?? "window";
  const usual = usualSides(kind, options);
  const a = address.a ?? usual?.a;
  const b = address.b ?? usual?.b;
  // Runs and times are of the one series that is shown: labels and devices have a series each.
  const selection = useMemo(
    () =>
      kind === "run" || kind === "window"
        ? { series: [id] }
        : { subject: shown.subject, subjectKind: shown.subjectKind, metric: shown.metric },
    [kind, id, shown.subject, shown.subjectKind, shown.metric],
  );
  const compared = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        a === undefined || b === undefined
          ? null
          : client.call(comparisonEndpoints.compareSeries, { query: { a, b, ...selection }, signal }),
      [client, a, b, selection],
    ),
  );
  return (
    <Panel
      id="compare"
      title="Compare"
      resource={compared}
      aside={
        <div class="picker">
          <Picker
            label="By"
            value={kind}
            options={usable.map((name) => [name, KIND_NAMES[name]])}
            onPick={(name) => onPick({ series: id, ...usualSides(name, options) })}
          />
          <Picker
            label="A"
            value={a}
            options={offer(options[kind], a)}
            onPick={(text) => onPick({ series: id, a: text, b })}
          />
          <Picker
            label="B"
            value={b}
            options={offer(options[kind], b)}
            onPick={(text) => onPick({ series: id, a, b: text })}
          />
        </div>
      }
    >
      <div class="compared">
        {compared.value === null ? (
          compared.error === null && <p class="muted">Comparing …</p>
        ) : (
          <CompareTable comparison={compared.value} devices={devices} />
        )}
      </div>
    </Panel>
  );
}

/** Sides with their names; a shared link may name one that is not offered any more. */
function offer(options: readonly SideOption[], picked: string | undefined): (readonly [string, string])[] {
  const isOffered = picked === undefined || options.some(({ text }) => text === picked);
  return [...(isOffered ? [] : [[picked, picked] as const]), ...options.map(({ text, name }) => [text, name] as const)];
}
