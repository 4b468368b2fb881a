/** The parts of the page, by the name that the address has for them. */
export const VIEWS = [
  "overview",
  "runners",
  "models",
  "jobs",
  "kernels",
  "evaluations",
  "archives",
  "validation",
  "history",
  "alerts",
  "settings",
] as const;
export type View = (typeof VIEWS)[number];

/** Selection on the page, as far as it differs from the default for the data. */
export interface PageAddress {
  readonly view: View;
  /** Id of the series that is shown. */
  readonly series?: string;
  /** Name of a time window, such as `7 d`. */
  readonly window?: string;
  /** The sides of a comparison, as the API takes them. */
  readonly a?: string;
  readonly b?: string;
  /** Alerts, or jobs, of this state alone. */
  readonly state?: string;
  /** Jobs of this kind alone. */
  readonly kind?: string;
  /** Cursor of the next page from the API; absent for the first one. */
  readonly cursor?: string;
  /** Id of the alert whose evidence is open. */
  readonly alert?: string;
  /** Id of the run whose verdicts or trials are shown. */
  readonly run?: string;
  /** Id of the runner whose diagnosis is shown. */
  readonly runner?: string;
  /** Id of the archive whose map is shown. */
  readonly archive?: string;
  /** Id of the job that is shown. */
  readonly job?: string;
  /** Name of the model that is shown. */
  readonly model?: string;
  /** Name or id of the kernel that is shown. */
  readonly kernel?: string;
  /** Id of the fingerprint whose leaderboards are shown. */
  readonly device?: string;
  /** Id of the tuning whose landscape is shown. */
  readonly tuning?: string;
  /** Variant and axes of a landscape: `register-tiled,lanesN,lanesM`. */
  readonly axes?: string;
  /** Shown span of a series' points: two instants with a slash between. */
  readonly span?: string;
  /** Entrant, episode and step of a replay, as in `0.2.137`. */
  readonly replay?: string;
  /** Open part of a view that has several. */
  readonly part?: string;
}

const NAMES = [
  "series",
  "window",
  "a",
  "b",
  "state",
  "kind",
  "cursor",
  "alert",
  "run",
  "runner",
  "archive",
  "job",
  "model",
  "kernel",
  "device",
  "tuning",
  "axes",
  "span",
  "replay",
  "part",
] as const;

/** Reads the address from a fragment such as `#view=history&series=ser_…`; what it does not know it leaves out. */
export function readAddress(fragment: string): PageAddress {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = VIEWS.find((name) => name === given.get("view")) ?? "overview";
  const picked = NAMES.flatMap((name) => {
    const value = given.get(name);
    return value === null || value === "" ? [] : [[name, value] as const];
  });
  return { view, ...Object.fromEntries(picked) };
}

/** The fragment of an address, with its `#`; empty where nothing is picked. */
export function writeAddress(address: PageAddress): string {
  const fields = new URLSearchParams();
  if (address.view !== "overview") fields.set("view", address.view);
  for (const name of NAMES) {
    const value = address[name];
    if (value !== undefined) fields.set(name, value);
  }
  const text = fields.toString();
  return text === "" ? "" : `#${text}`;
}
