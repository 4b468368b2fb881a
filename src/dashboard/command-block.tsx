import { useState } from "preact/hooks";

/** A shell command to copy. */
export function CommandBlock({ label, command }: { label: string; command: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div class="command">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{command}</code>
      </pre>
      {navigator.clipboard !== undefined && (
        <button type="button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  );
}
