/** One flat event per unit of work: a request, a job, a connection. */
export interface TelemetryEvent {
  readonly event: string;
  readonly [field: string]: string | number | boolean | null | undefined;
}

/** Receiver of events, passed to their sources. */
export type TelemetrySink = (event: TelemetryEvent) => void;
