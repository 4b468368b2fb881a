import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Writer } from "./use-writer.ts";

interface WriteButtonProps {
  readonly writer: Writer;
  readonly label: string;
  readonly work: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly children: ComponentChildren;
}

/** A button that changes something on the edge. Without the scope it stays in reach, and says why it does nothing. */
export function WriteButton({ writer, label, work, onDone, children }: WriteButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    if (isBusy || writer.refusal !== null) return;
    setBusy(true);
    const isDone = await writer.write(work);
    setBusy(false);
    if (isDone) onDone();
  };
  return (
    <button
      type="button"
      aria-label={label}
      aria-disabled={isBusy || writer.refusal !== null}
      title={writer.refusal ?? undefined}
      onClick={() => void press()}
    >
      {children}
    </button>
  );
}
