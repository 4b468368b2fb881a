/** One flat event per unit of work: a request, a job, a connection. */
export interface TelemetryEvent {
  readonly event: string;
  readonly [field: string]: string | number | boolean | null | undefined;
}

/** Where events go; given to whoever emits them. */
export type TelemetrySink = (event: TelemetryEvent) => void;
