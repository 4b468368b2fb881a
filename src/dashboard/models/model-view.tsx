import { historyEndpoints } from "../../protocol/history/history-endpoints.ts";
import { modelEndpoints } from "../../protocol/models/model-endpoints.ts";
import { FILE_MEDIA_TYPE } from "../../protocol/models/upload.ts";
import { useCallback, useRef, useState } from "preact/hooks";
import type { Model } from "../../protocol/models/model.ts";
import { EmptyState, Panel, Refusal } from "../ui/panels.tsx";
import { formatBytes, formatNumber } from "../../words/numbers.ts";
import { ModelPanel } from "./model-panel.tsx";
import { TryPanel } from "./try-panel.tsx";
import { UploadPanel } from "./upload-panel.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { PredictionPanel } from "../plots/prediction-panel.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { ShowButton, WriteButton } from "../ui/buttons.tsx";
import { DataTable } from "../ui/data-table.tsx";

const MODELS_SHOWN = 100;
const PREDICTION_STEP = "5m";
/** Every inference changes the history; reading it again may wait. */
const HISTORY_GAP_MS = 2_000;
/** A key does not know its own scopes: a check of nothing shows whether it may upload, before a form is filled in. */
const NO_FILE = { mediaType: FILE_MEDIA_TYPE, content: "" } as const;

/** The view of models: the latest of them, and what one is made of, has as variants and takes where. */
export function ModelView(props: ViewProps) {
  const { client, subscribe, address, onPick, writer } = props;
  const [isUploading, setUploading] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const models = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(modelEndpoints.listModels, { query: { limit: MODELS_SHOWN }, signal })).items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "job", models.refresh);
  const { value, error } = models;
  const shown = value?.find(({ name }) => name === address.model) ?? value?.[0];
  return (
    <main id="content" tabIndex={-1} aria-busy={value === null && error === null}>
      <h1 class="unseen">Models</h1>
      {isUploading && (
        <UploadPanel
          client={client}
          onStored={(model) => {
            models.refresh();
            onPick({ model, part: undefined });
          }}
          onClose={() => {
            setUploading(false);
            // The focused element is about to disappear.
            list.current?.focus({ preventScroll: true });
          }}
        />
      )}
      <Panel
        id="models"
        title="Models"
        resource={models}
        aside={
          !isUploading && (
            <WriteButton
              writer={writer}
              label="Upload a model"
              work={() => client.call(modelEndpoints.checkModel, { rawBody: NO_FILE })}
              onDone={() => setUploading(true)}
            >
              Upload a model …
            </WriteButton>
          )
        }
      >
        <Refusal text={writer.refusal ?? writer.failure} />
        <div ref={list} tabIndex={-1} class="part-list">
          {value === null && error === null && <p class="muted loading">Reading models …</p>}
          {value?.length === 0 && (
            <EmptyState says="No model has been uploaded yet." command={nextCommands.uploadModel}>
              This checks an ONNX file and has your runners measure it:
            </EmptyState>
          )}
          {value !== null && value.length > 0 && (
            <ModelTable
              models={value}
              shown={shown?.name ?? null}
              onShow={(model) => onPick({ model, part: undefined })}
            />
          )}
        </div>
      </Panel>
      {shown !== undefined && <ShownModel key={shown.id} {...props} model={shown} />}
    </main>
  );
}

/** One model: what it is, how its predictions held, and a form that asks it. */
function ShownModel({ model, ...props }: ViewProps & { readonly model: Model }) {
  const { client, subscribe } = props;
  const { name } = model;
  const latest = model.versions.at(-1);
  const version = latest?.version;
  const predictions = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(historyEndpoints.readPredictionCalibration, {
          query: { model: `${name}@${version}`, step: PREDICTION_STEP },
          signal,
        }),
      [client, name, version],
    ),
    HISTORY_GAP_MS,
  );
  useRefreshOn(subscribe, "history", predictions.refresh);
  return (
    <>
      <ModelPanel {...props} model={model} />
      {latest !== undefined && <TryPanel key={latest.id} client={client} model={name} version={latest} />}
      <PredictionPanel predictions={predictions} />
    </>
  );
}

interface ModelTableProps {
  readonly models: readonly Model[];
  readonly shown: string | null;
  readonly onShow: (name: string) => void;
}

function ModelTable({ models, shown, onShow }: ModelTableProps) {
  const rows = models.map((model) => ({ ...model, latest: model.versions.at(-1) }));
  return (
    <DataTable
      class="judgements"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Model",
          head: true,
          title: ({ id }) => id,
          cell: ({ name }) => name,
          note: ({ latest }) => `version ${latest?.version ?? "–"}`,
        },
        {
          name: "Parameters",
          cell: ({ latest }) => (latest?.summary == null ? "–" : formatNumber(latest.summary.parameters)),
        },
        { name: "File", cell: ({ latest }) => formatBytes(latest?.sizeBytes) },
        { name: "Variants", cell: ({ latest }) => latest?.variants.length ?? 0 },
        {
          name: "Uploaded",
          cell: ({ latest }) => (latest === undefined ? "–" : <Timestamp at={latest.createdAt} />),
        },
        {
          name: "Details",
          cell: ({ name }) => (
            <ShowButton isShown={name === shown} onShow={() => onShow(name)} what={`the model ${name}`} />
          ),
        },
      ]}
    />
  );
}
