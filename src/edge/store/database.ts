import { type SQL, sql } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";

export type Database = DrizzleD1Database;

/** The database behind a D1 binding; column names are the schema's in snake case. */
export function openDatabase(binding: D1Database): Database {
  return drizzle(binding, { casing: "snake_case" });
}

/** Any number of values for an `in`: one JSON parameter, since D1 takes a hundred parameters at most. */
export function listOf(values: readonly string[]): SQL {
  return sql`(select value from json_each(${JSON.stringify(values)}))`;
}
