import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";

export type Database = DrizzleD1Database;

/** The database behind a D1 binding; column names are the schema's in snake case. */
export function openDatabase(binding: D1Database): Database {
  return drizzle(binding, { casing: "snake_case" });
}
