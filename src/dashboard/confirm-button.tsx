import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

interface ConfirmButtonProps {
  /** What is done to what, such as `Revoke the key ci`. */
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
