import { describe, expect, it } from "vitest";
import { limitMetrics, type MetricFamily } from "../../../src/telemetry/metric.ts";
import { chooseMetricsForm, renderMetrics } from "../../../src/telemetry/render-metrics.ts";
import { parseMetrics } from "../../edge/stack/parse-metrics.ts";
import { fc } from "../property.ts";

const families: MetricFamily[] = [
  {
    name: "jobs_total",
    help: 'Jobs, "all" of them\\so far\nas counted.',
    type: "counter",
    samples: [
      { labels: {}, value: 3 },
      { labels: { kind: 'a "b"\\c\nd' }, value: 0.25 },
    ],
  },
  {
    name: "age_seconds",
    help: "Age.",
    type: "histogram",
    samples: [
      {
        labels: { of: "x" },
        buckets: [
          { upTo: 0.5, count: 1 },
          { upTo: 1, count: 2 },
        ],
        count: 4,
        sum: 7.5,
      },
    ],
  },
];

describe("metrics as text", () => {
  it("are what Prometheus' format 0.0.4 shows", () => {
    expect(renderMetrics(families, "text")).toBe(
      [
        '# HELP jobs_total Jobs, "all" of them\\\\so far\\nas counted.',
        "# TYPE jobs_total counter",
        "jobs_total 3",
        'jobs_total{kind="a \\"b\\"\\\\c\\nd"} 0.25',
        "# HELP age_seconds Age.",
        "# TYPE age_seconds histogram",
        'age_seconds_bucket{of="x",le="0.5"} 1',
        'age_seconds_bucket{of="x",le="1"} 2',
        'age_seconds_bucket{of="x",le="+Inf"} 4',
        'age_seconds_sum{of="x"} 7.5',
        'age_seconds_count{of="x"} 4',
        "",
      ].join("\n"),
    );
  });

  it("differ in OpenMetrics by the counter's name, whole bounds, escaped help and the end", () => {
    const text = renderMetrics(families, "openmetrics");
    expect(text.startsWith('# HELP jobs Jobs, \\"all\\" of them\\\\so far\\nas counted.\n# TYPE jobs counter\n')).toBe(
      true,
    );
    expect(text).toContain("\njobs_total 3\n");
    expect(text).toContain('le="1.0"');
    expect(text.endsWith("\n# EOF\n")).toBe(true);
  });

  it("say the same to every reader, whatever labels and values hold", () => {
    const labels = fc.dictionary(
      fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/),
      fc.string({ unit: "binary", maxLength: 12 }),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    );
    const value = fc.oneof(fc.double(), fc.integer());
    const samples = fc.uniqueArray(fc.record({ labels, value }), {
      selector: (each) => keyOf(each.labels),
      maxLength: 6,
    });
    const help = fc
      .string({ unit: "binary", minLength: 1 })
      .filter((text) => text.trim() === text && !/[\r\u2028\u2029]/.test(text));
    const type = fc.constantFrom("counter", "gauge");
    fc.assert(
      fc.property(samples, help, type, fc.constantFrom("text", "openmetrics"), (told, words, kind, form) => {
        const family = { name: "thing_total", help: words, type: kind, samples: told } as MetricFamily;
        const isShort = form === "openmetrics" && kind === "counter";
        const read = parseMetrics(renderMetrics([family], form)).get(isShort ? "thing" : "thing_total");
        expect(read?.help).toBe(words);
        expect(read?.type).toBe(kind);
        // JSON has no sign of zero, and text needs none.
        expect(read?.samples).toEqual(told.map((each) => ({ name: "thing_total", ...each, value: each.value + 0 })));
      }),
    );
  });

  it("leave out the last series of what has too many, and count them", () => {
    const many: MetricFamily = {
      name: "many",
      help: "Many.",
      type: "gauge",
      samples: Array.from({ length: 5 }, (_, index) => ({ labels: { index: String(index) }, value: index })),
    };
    const [cut, other, dropped] = limitMetrics([many, families[0]!], 3);
    expect(cut?.samples).toEqual(many.samples.slice(0, 3));
    expect(other).toEqual(families[0]);
    expect(dropped).toMatchObject({
      name: "millrace_metrics_dropped_series",
      samples: [{ labels: { metric: "many" }, value: 2 }],
    });
  });
});

describe("the form of metrics", () => {
  it.each([
    [undefined, "text"],
    ["", "text"],
    ["*/*", "text"],
    ["application/json", "text"],
    ["application/openmetrics-text", "openmetrics"],
    ["application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", "openmetrics"],
    ["text/plain, application/openmetrics-text; q=0.9", "text"],
    ["Application/OpenMetrics-Text; Q=0", "text"],
    ["application/openmetrics-text;q=none", "text"],
  ])("is chosen by Accept: %s", (accept, form) => {
    expect(chooseMetricsForm(accept)).toBe(form);
  });
});

function keyOf(labels: object): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
