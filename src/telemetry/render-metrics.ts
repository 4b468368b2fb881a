import type { HistogramSample, MetricFamily, MetricLabels, SummarySample } from "./metric.ts";

/** Format of metrics: Prometheus' text format 0.0.4, or OpenMetrics 1.0.0. */
type MetricsForm = "text" | "openmetrics";

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

/**
 * Metrics as text that Prometheus scrapes: its exposition format 0.0.4, or OpenMetrics 1.0.0, which names a counter
 * without its `_total`, escapes more and says where it ends.
 */
export function renderMetrics(families: readonly MetricFamily[], form: MetricsForm): string {
  const isOpen = form === "openmetrics";
  const lines = families.flatMap((family) => {
    const name = isOpen && family.type === "counter" ? family.name.replace(/_total$/, "") : family.name;
    const help = isOpen ? escape(family.help) : family.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${family.type}`, ...renderSamples(family, isOpen)];
  });
  return [...lines, ...(isOpen ? ["# EOF"] : [])].map((line) => `${line}\n`).join("");
}

function renderSamples(family: MetricFamily, isOpen: boolean): string[] {
  const { name } = family;
  switch (family.type) {
    case "counter":
    case "gauge":
      return family.samples.map(({ labels, value }) => renderSample(name, labels, value));
    case "summary":
      return family.samples.flatMap((sample) => renderSums(name, sample));
    case "histogram":
      return family.samples.flatMap((sample) => [...renderBuckets(name, sample, isOpen), ...renderSums(name, sample)]);
  }
}

function renderBuckets(name: string, { labels, buckets, count }: HistogramSample, isOpen: boolean): string[] {
  return [...buckets, { upTo: Number.POSITIVE_INFINITY, count }].map((bucket) => {
    const bound = formatNumber(bucket.upTo);
    // OpenMetrics wants bounds to look like floating-point numbers.
    const le = isOpen && /^\d+$/.test(bound) ? `${bound}.0` : bound;
    return renderSample(`${name}_bucket`, { ...labels, le }, bucket.count);
  });
}

function renderSums(name: string, { labels, count, sum }: SummarySample): string[] {
  return [renderSample(`${name}_sum`, labels, sum), renderSample(`${name}_count`, labels, count)];
}

function renderSample(name: string, labels: MetricLabels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${formatNumber(value)}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function formatNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
