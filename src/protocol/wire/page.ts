import { z } from "zod";
import { LIMITS } from "./limits.ts";

/** Query of a list: page size, and the opaque cursor that the page before gave. */
export const PageQuery = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.maxPageSize)
    .default(LIMITS.defaultPageSize)
    .meta({ description: "How many items a page has at most" }),
  cursor: z.string().max(512).optional().meta({ description: "`nextCursor` of the page before" }),
});
export type PageQuery = z.infer<typeof PageQuery>;

/** A page of a list; `nextCursor` is null on the last one. */
export function pageOf<Item extends z.ZodType>(item: Item, name: string) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() }).meta({ id: `${name}Page` });
}

/** An instant as RFC 3339 UTC. */
export const Instant = z.iso.datetime().meta({ example: "2026-11-21T09:30:00.000Z" });

/** A name that people choose: letters, digits, `.`, `_`, `-`. */
export const Name = z
  .string()
  .min(1)
  .max(LIMITS.nameLength)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, '.', '_' or '-' and begin with a letter or digit");

/** The version that an update rests on. */
export const IfMatch = z
  .string()
  .max(64)
  .optional()
  .meta({ description: "The `ETag` that the resource was read with" });

/** Key that identifies a repeated request. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces")
  .optional()
  .meta({ description: "Names this request: sent again with the same body, it is the same job" });

/** Free labels, such as `site=lab`. */
export const Labels = z
  .record(Name, z.string().max(LIMITS.nameLength))
  .refine((labels) => Object.keys(labels).length <= LIMITS.labelCount, `at most ${LIMITS.labelCount} labels`);
