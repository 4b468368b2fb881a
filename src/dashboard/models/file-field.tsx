import { useState } from "preact/hooks";

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
