/** The percentiles that are drawn, as points name them; the API's default. */
export const DRAWN_PERCENTILES = ["p50", "p95", "p99"] as const;
