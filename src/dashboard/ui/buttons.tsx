import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Endpoint } from "../../protocol/endpoint.ts";
import type { Writer } from "./hooks/use-writer.ts";

interface ConfirmButtonProps {
  /** Action and object, such as `Revoke the key ci`. */
  readonly label: string;
  readonly work: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onFail: (message: string) => void;
  readonly children: ComponentChildren;
}

/** A button for what cannot be undone: pressed once it asks, pressed again it does it. */
export function ConfirmButton({ label, work, onDone, onFail, children }: ConfirmButtonProps) {
  const [state, setState] = useState<"idle" | "asks" | "busy">("idle");
  const button = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  // The button that was pressed makes way for others: the focus goes along.
  useLayoutEffect(() => {
    if (state === "asks" || (state === "idle" && wasAsked.current)) button.current?.focus();
    wasAsked.current = state !== "idle";
  }, [state]);
  const confirm = async () => {
    if (state === "busy") return;
    setState("busy");
    try {
      await work();
      onDone();
    } catch (error) {
      onFail((error as Error).message);
    }
    setState("idle");
  };
  if (state === "idle")
    return (
      <button ref={button} type="button" aria-label={label} onClick={() => setState("asks")}>
        {children}
      </button>
    );
  return (
    <span class="confirm" role="group" aria-label={`${label}?`}>
      <button ref={button} type="button" class="danger" aria-disabled={state === "busy"} onClick={() => void confirm()}>
        Yes, {children}
      </button>
      <button type="button" onClick={() => setState("idle")}>
        No
      </button>
    </span>
  );
}

/** Gives the reader a file to keep; what no disk takes in a name becomes a dash. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  link.click();
  URL.revokeObjectURL(link.href);
}

interface DownloadButtonProps {
  readonly client: Client;
  readonly endpoint: Endpoint;
  readonly id: string;
  /** File name on the reader's disk. */
  readonly fileName: string;
  readonly children: string;
}

/** Saves what an endpoint answers as a file: a link could not carry the key. */
export function DownloadButton({ client, endpoint, id, fileName, children }: DownloadButtonProps) {
  const [failure, setFailure] = useState<string | null>(null);
  const save = async () => {
    setFailure(null);
    try {
      const response = await client.send(endpoint, { params: { id } });
      saveFile(await response.blob(), fileName);
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>
        {children}
      </button>
      {failure !== null && <span role="alert">{`It could not be read: ${failure}`}</span>}
    </>
  );
}

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

interface ShowButtonProps {
  readonly isShown: boolean;
  readonly onShow: () => void;
  /** Name of the shown content, for screen readers. */
  readonly what: string;
}

/** Shows one row of a table in depth. */
export function ShowButton({ isShown, onShow, what }: ShowButtonProps) {
  return (
    <button type="button" aria-pressed={isShown} onClick={onShow}>
      Show<span class="unseen">{` ${what}`}</span>
    </button>
  );
}
