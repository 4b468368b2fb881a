import { useState } from "preact/hooks";

/** A value as JSON, behind a line that names it and written out when that is opened. */
export function JsonText({ label, value }: { readonly label: string; readonly value: unknown }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && (
        <pre class="json" tabIndex={0} role="region" aria-label={label}>
          {JSON.stringify(value, null, 2)}
        </pre>
      )}
    </details>
  );
}
