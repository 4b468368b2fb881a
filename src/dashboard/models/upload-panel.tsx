import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import type { FormField } from "../../words/form-fields.ts";
import { describeBackends } from "../../words/models.ts";
import { formatBytes, formatShare } from "../../words/numbers.ts";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { FactList } from "../ui/panels.tsx";
import { type ModelToSend, type SendingStep, sendModel } from "./send-model.ts";

const FIELDS: readonly FormField[] = [
  { kind: "text", pointer: "#/name", label: "Name", hint: "Of a new model, or of one that is there", required: true },
  { kind: "files", pointer: "#/model", label: "ONNX file", accept: ".onnx" },
  {
    kind: "files",
    pointer: "#/data",
    label: "Files with its weights",
    hint: "All of them, if the ONNX file has external data",
    isList: true,
  },
  {
    kind: "text",
    pointer: "#/shapes",
    label: "Shapes to measure",
    hint: 'Of inputs with free sizes, such as {"image": [[1, 3, 224, 224]]}',
  },
  {
    kind: "text",
    pointer: "#/values",
    label: "Values to measure with",
    hint: 'Where not any number will do, such as {"sampling_rate": [16000]}',
  },
];

interface UploadPanelProps {
  readonly client: Client;
  /** Called with the name of the model that has a new version. */
  readonly onStored: (model: string) => void;
  readonly onClose: () => void;
}

/** Uploads a model of any size, and shows which backends can serve it. */
export function UploadPanel({ client, onStored, onClose }: UploadPanelProps) {
  const [step, setStep] = useState<SendingStep | null>(null);
  const [stored, setStored] = useState<{ readonly name: string; readonly version: ModelVersion } | null>(null);
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const send = async (body: ModelToSend) => {
    const { signal } = (abort.current = new AbortController());
    try {
      const { model, version } = await sendModel(client, body, { onProgress: setStep, signal });
      setStored({ name: model.name, version });
      onStored(model.name);
    } catch (error) {
      if (signal.aborted) throw new Error("Stopped. The same files, sent again, go on from here.", { cause: error });
      throw error;
    } finally {
      setStep(null);
    }
  };
  return (
    <section class="panel" aria-labelledby="upload">
      <div class="panel-head">
        <h2 id="upload">Upload a model</h2>
      </div>
      {stored === null ? (
        <FieldForm
          label="Upload a model"
          submit="Upload"
          work={send}
          onCancel={() => (step === null ? onClose() : abort.current?.abort())}
          fields={FIELDS}
        >
          <SendingProgress step={step} />
        </FieldForm>
      ) : (
        <StoredNote {...stored} onClose={onClose} />
      )}
    </section>
  );
}

/** How far the upload is; what is read aloud changes only with each tenth. */
function SendingProgress({ step }: { readonly step: SendingStep | null }) {
  if (step === null) return <p class="unseen" role="status" />;
  const { doing, name, doneBytes, totalBytes } = step;
  const what = `${doing} ${name}`;
  const share = doneBytes === null ? null : doneBytes / totalBytes;
  const bytes = doneBytes === null ? "" : `${formatBytes(doneBytes)} of `;
  return (
    <>
      <p class="unseen" role="status">
        {share === null ? what : `${what}: ${formatShare(Math.floor(share * 10) / 10)}`}
      </p>
      <p class="progress">
        <progress aria-label={what} value={share ?? undefined} />
        <small>{`${what}: ${bytes}${formatBytes(totalBytes)}${share === null ? "" : `, ${formatShare(share)}`}`}</small>
      </p>
    </>
  );
}

interface StoredNoteProps {
  readonly name: string;
  readonly version: ModelVersion;
  readonly onClose: () => void;
}

/** A version that was uploaded: the form that had the focus has made way for it. */
function StoredNote({ name, version: { version, backends }, onClose }: StoredNoteProps) {
  const note = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => note.current?.focus(), []);
  const title = `${name} has the version ${version}.`;
  return (
    <div ref={note} class="stored" role="group" aria-label={title} tabIndex={-1}>
      <p>
        <strong>{title}</strong> Runners now calibrate it; how that goes stands with the model.
      </p>
      <dl class="facts">
        <FactList facts={describeBackends(backends)} />
      </dl>
      <div class="form-end">
        <button type="button" onClick={() => document.getElementById("model")?.scrollIntoView()}>
          Go to the model
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}
