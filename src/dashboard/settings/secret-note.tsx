import { useLayoutEffect, useRef } from "preact/hooks";
import { CommandBlock } from "../command-block.tsx";

interface SecretNoteProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** A secret that was just made: this is the only time that it can be seen. */
export function SecretNote({ title, secret, onClose }: SecretNoteProps) {
  const note = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => note.current?.focus(), [secret]);
  return (
    <div ref={note} class="secret" role="group" aria-label={title} tabIndex={-1}>
      <p>
        <strong>{title}</strong> Copy it now: it is never shown again.
      </p>
      <CommandBlock label="Secret" command={secret} />
      <button type="button" onClick={onClose}>
        I have it
      </button>
    </div>
  );
}
