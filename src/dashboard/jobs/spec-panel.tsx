import type { JobSpec } from "../../protocol/job.ts";
import { Fact } from "../fact.tsx";
import { JsonText } from "./json-text.tsx";

/** Longer texts would push the rest away; the JSON has them whole. */
const TEXT_SHOWN = 160;

/** What a job was asked for with what the edge filled in: as a list, and as the JSON that it is. */
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
