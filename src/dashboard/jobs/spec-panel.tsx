import { useState } from "preact/hooks";
import type { JobSpec } from "../../protocol/jobs/job.ts";
import { Fact } from "../ui/panels.tsx";

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

/** Longer texts would push the rest away; the JSON has them whole. */
const TEXT_SHOWN = 160;

/** Specification of a job with the edge's defaults: as a list, and as JSON. */
export function SpecPanel({ spec }: { readonly spec: JobSpec }) {
  return (
    <section class="panel" aria-labelledby="spec">
      <div class="panel-head">
        <h2 id="spec">Spec</h2>
      </div>
      <dl class="facts">
        {Object.entries(spec).map(([name, value]) => (
          <Fact key={name} name={name}>
            {describeValue(value)}
          </Fact>
        ))}
      </dl>
      <JsonText label="Spec as JSON" value={spec} />
    </section>
  );
}

function describeValue(value: unknown): string {
  const text = wordOf(value);
  return text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)} …` : text;
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(wordOf).join("; ");
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return typeof value === "string" ? value : JSON.stringify(value);
  const fields = Object.entries(value).map(([name, inner]) => `${name} ${wordOf(inner)}`);
  return fields.length === 0 ? "defaults" : fields.join(", ");
}
