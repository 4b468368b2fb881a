/** How metrics are written: Prometheus' text format 0.0.4, or OpenMetrics 1.0.0. */
export type MetricsForm = "text" | "openmetrics";

export const METRICS_MEDIA_TYPES: Readonly<Record<MetricsForm, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

const TYPES: Readonly<Record<string, MetricsForm>> = {
  "application/openmetrics-text": "openmetrics",
  "text/plain": "text",
};

/** The form that an `Accept` header likes best; plain text where it names neither. */
export function chooseMetricsForm(accept: string | undefined): MetricsForm {
  const best = { form: "text" as MetricsForm, quality: 0 };
  for (const range of (accept ?? "").split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const form = TYPES[type];
    const given = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = given === undefined ? 1 : Number(given.slice(2));
    if (form !== undefined && quality > best.quality) Object.assign(best, { form, quality });
  }
  return best.form;
}
