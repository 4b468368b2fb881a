import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Attacker } from "../attacker/attacker.ts";
import type { Attack } from "./attack.ts";

const HISTORY = "/v1/history";
const POINTS = `${HISTORY}/points`;
const YEAR_MS = 365 * 86_400_000;
/** Series and points of each that questions are asked about. */
const SERIES = 200;
const POINTS_EACH = 25;
const REPORTED_AT_ONCE = 150;

/** A host and labels as long as they may be. */
const LONG_HOST = {
  cpu: "c".repeat(256),
  adapter: "a".repeat(256),
  driver: "d".repeat(256),
  dawn: "w".repeat(100),
};
const LONG_LABEL = "l".repeat(LIMITS.nameLength);

/** As many entries as a series' configuration may have, as long as they may be. */
function longConfiguration(word: string): Record<string, string> {
  const entries = Array.from({ length: LIMITS.configurationEntries }, (_, at) => {
    const name = `${at}-`.padEnd(LIMITS.nameLength, "n");
    return [name, `${word}-`.padEnd(LIMITS.configurationLength, "v")];
  });
  return Object.fromEntries(entries);
}

/** Gives series a year of points, under two labels. */
async function fillYear(attacker: Attacker): Promise<void> {
  for (const label of ["main", "branch"]) {
    for (let point = 0; point < POINTS_EACH; point++) {
      const at = new Date(Date.now() - (point * YEAR_MS) / POINTS_EACH).toISOString();
      const measurements = Array.from({ length: SERIES / 2 }, (_, series) => ({
        subject: "year",
        metric: "wallMs",
        unit: "ms",
        configuration: { size: series },
        values: [1 + Math.random(), 2 + Math.random(), 3],
      }));
      await attacker.make("POST", POINTS, { body: { run: `${label}-${point}`, label, at, measurements } });
    }
  }
}

/** Asks questions about a year of points in turn. */
function asking(callers: number, questions: readonly string[]) {
  return async (attacker: Attacker) => {
    await fillYear(attacker);
    return () =>
      attacker.flood(callers, (count) => attacker.ask("GET", `${HISTORY}/${questions[count % questions.length]!}`));
  };
}

const SPAN = `from=${new Date(Date.now() - YEAR_MS).toISOString()}&to=${new Date(Date.now() + 86_400_000).toISOString()}`;
const OF_YEAR = `subject=year&metric=wallMs&${SPAN}`;
const MANY_PERCENTILES = "percentiles=1,5,10,20,25,30,40,50,60,70,75,80,90,95,99,99.9";

export const HISTORY_ATTACKS: readonly Attack[] = [
  {
    name: "reports",
    does: "reports of ever new series, with hosts, labels and configurations of the greatest length",
    prepare: (attacker) => () =>
      attacker.flood(8, (count) => {
        const measurements = Array.from({ length: REPORTED_AT_ONCE }, (_, at) => ({
          subject: `${count}-${at}-`.padEnd(256, "s"),
          metric: "m".repeat(64),
          unit: "ms",
          configuration: longConfiguration(`${count}-${at}`),
          value: at,
        }));
        const body = { run: `long-${count}`, host: LONG_HOST, label: LONG_LABEL, measurements };
        return attacker.ask("POST", POINTS, { body });
      }),
  },
  {
    name: "year-questions",
    does: "thirty questions at once about a year of two hundred series, by minute, by hour and as a whole",
    prepare: asking(30, [
      `query?${OF_YEAR}&step=1h&${MANY_PERCENTILES}&groupBy=series,label,configuration.size`,
      `query?${OF_YEAR}&groupBy=configuration.size,label,device,variant,backend,batch&${MANY_PERCENTILES}`,
      `query?${OF_YEAR}&step=1d&format=parquet`,
      `scaling?${OF_YEAR}&over=size&${MANY_PERCENTILES}`,
      `leaderboard?${OF_YEAR}&groupBy=configuration.size,label`,
    ]),
  },
  {
    name: "heat-maps",
    does: "twenty heat maps at once of a year, by as many rows and steps as there may be",
    prepare: asking(20, [`heatmap?${OF_YEAR}&rows=${LIMITS.heatmapRows}&step=9h`, `heatmap?${OF_YEAR}&rows=100`]),
  },
  {
    name: "comparisons",
    does: "twenty comparisons at once of a hundred pairs of series",
    prepare: asking(20, [
      "compare?a=label:main&b=label:branch&subject=year&statistic=p99",
      "compare?a=label:main%3Blast:10&b=label:main&subject=year&confidence=0.9999",
    ]),
  },
  {
    name: "detections",
    does: "ten searches at once for changes in as many series as one search may go through",
    prepare: async (attacker) => {
      await fillYear(attacker);
      const selector = { subject: "year", metric: "wallMs" };
      const parameters = { minSegment: 0, maxP: 0.999, minMagnitude: 0, windowPoints: LIMITS.thresholdWindow };
      const body = { selector, parameters, dryRun: true };
      return () => attacker.flood(10, () => attacker.ask("POST", `${HISTORY}/detections`, { body }));
    },
  },
  {
    name: "thresholds",
    does: "as many rules as there may be, and reports that each of them judges",
    prepare: async (attacker) => {
      for (let at = 0; at < DEFAULT_QUOTAS.thresholds; at += 20) {
        const rules = Array.from({ length: 20 }, (_, index) => ({ name: `rule-${at + index}`, ...RULE }));
        await Promise.all(rules.map((body) => attacker.make("POST", `${HISTORY}/thresholds`, { body })));
      }
      return () =>
        attacker.flood(8, (count) => {
          const measured = { subject: "ruled", metric: "wallMs", unit: "ms", value: Math.random() };
          const measurements = Array.from({ length: 20 }, (_, size) => ({ ...measured, configuration: { size } }));
          return attacker.ask("POST", POINTS, { body: { run: `ruled-${count}`, measurements } });
        });
    },
  },
  {
    name: "baselines",
    does: "baselines under ever new names, and lists of them",
    prepare: (attacker) => () =>
      attacker.flood(30, (count) => {
        const path = `${HISTORY}/baselines`;
        if (count % 8 === 0) return attacker.ask("GET", `${path}?limit=200`);
        const selection = { subject: "s".repeat(256), metric: "m".repeat(64) };
        return attacker.ask("PUT", `${path}/pin-${count}`, { body: { label: LONG_LABEL, selection } });
      }),
  },
];

const RULE = {
  selector: { subject: "ruled", configuration: longConfiguration("none") },
  test: "t-test",
  upper: 0.6,
  windowPoints: LIMITS.thresholdWindow,
  minSample: 2,
};
