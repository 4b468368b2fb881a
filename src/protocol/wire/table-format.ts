import { z } from "zod";

/** Forms of an answer: JSON, or flat rows. */
export const TABLE_MEDIA_TYPES = {
  json: "application/json",
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
} as const;
export type TableFormat = keyof typeof TABLE_MEDIA_TYPES;

/** The form of an answer as a query parameter; absent: what `Accept` asks for. */
export const formatQuery = {
  format: z
    .enum(Object.keys(TABLE_MEDIA_TYPES) as [TableFormat, ...TableFormat[]])
    .optional()
    .meta({ description: "Absent: by `Accept`" }),
};

/** Media types of the flat rows, for the endpoint table. */
export const FLAT_MEDIA_TYPES: readonly string[] = [
  TABLE_MEDIA_TYPES.csv,
  TABLE_MEDIA_TYPES.ndjson,
  TABLE_MEDIA_TYPES.parquet,
];
