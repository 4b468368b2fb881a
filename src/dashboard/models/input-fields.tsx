import { useEffect, useState } from "preact/hooks";
import type { TensorSpec } from "../../protocol/models/model.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { formatNumber } from "../../words/numbers.ts";
import { countRow, fillRow, readNumbers, toTensor, WRITTEN_NUMBERS } from "./input-tensor.ts";

interface FileFieldProps {
  readonly label: string;
  /** Media types, as a file field takes them. */
  readonly accept: string;
  readonly onFile: (file: File) => void;
}

/** A file, chosen or dropped. */
export function FileField({ label, accept, onFile }: FileFieldProps) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) onFile(file);
  };
  return (
    <label
      class={`drop ${isOver ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <span>{`${label}, chosen or dropped here`}</span>
      <input type="file" accept={accept} onChange={({ currentTarget }) => take(currentTarget.files)} />
    </label>
  );
}

export interface TensorInputProps {
  readonly spec: TensorSpec;
  /** Hears of every change; null while there is nothing that fits. */
  readonly onTensor: (tensor: Tensor | null) => void;
}

/** Content of the field: text, or a row with too many numbers to write out. */
type Filled = { readonly text: string } | { readonly row: readonly (number | string)[] };

/** Numbers as text, checked as they are written. */
export function NumberInput({ spec, onTensor }: TensorInputProps) {
  const [filled, setFilled] = useState<Filled>({ text: "" });
  const isEmpty = "text" in filled && filled.text.trim() === "";
  const read = "text" in filled ? readNumbers(spec, filled.text) : toTensor(spec, filled.row);
  useEffect(() => onTensor(read.ok ? read.tensor : null), [filled]);
  const fill = (how: "zeros" | "random") => {
    const row = fillRow(spec, how);
    setFilled(row.length > WRITTEN_NUMBERS ? { row } : { text: row.join(", ") });
  };
  const noteId = `note-${spec.name}`;
  return (
    <>
      <textarea
        aria-label={`Numbers of ${spec.name}`}
        aria-describedby={noteId}
        aria-invalid={!isEmpty && !read.ok}
        rows={3}
        spellcheck={false}
        placeholder={`${formatNumber(countRow(spec.shape))} numbers, with commas between them or as JSON`}
        value={"text" in filled ? filled.text : `${formatNumber(filled.row.length)} numbers`}
        readOnly={"row" in filled}
        onInput={({ currentTarget }) => setFilled({ text: currentTarget.value })}
      />
      <div class="try-row">
        <button type="button" onClick={() => fill("zeros")}>
          Zeros
        </button>
        <button type="button" onClick={() => fill("random")}>
          Random
        </button>
        {"row" in filled && (
          <button type="button" onClick={() => setFilled({ text: "" })}>
            Clear
          </button>
        )}
        <span id={noteId} class={isEmpty || read.ok ? "muted" : "refusal"}>
          {isEmpty ? "" : read.ok ? `as ${read.tensor.dtype} ${read.tensor.shape.join(" × ")}` : read.message}
        </span>
      </div>
    </>
  );
}
