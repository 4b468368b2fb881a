import { LIMITS } from "../../../protocol/wire/limits.ts";

/** Condition of an upload that has not ended; ended ones wait to be deleted. */
export const LIVES = `touched_at_ms >= unixepoch() * 1000 - ${LIMITS.uploadMs}`;

/** Tables whose rows name one file of a project each. */
const FILES = ["populations", "archives", "job_artifacts", "item_memory_parts"] as const;

/**
 * SQL for the bytes of a project's files but for one, given by its digest: what the bucket holds for it, except for
 * traces and samples of runs. A file counts once, however many rows name it; with `union all` it counts for each row,
 * which takes a fifth of the time. `project` and `but` are SQL, too. D1 takes five parts of a compound at most.
 */
export function storedBytesOf(project: string, but = "''", union: "union" | "union all" = "union"): string {
  const versions = `models m join model_versions v on v.model_id = m.id`;
  const ofProject = `where m.project = ${project}`;
  return `select sum(size) from (
    select * from (
      select v.digest, v.size_bytes as size from ${versions} ${ofProject} and v.files is null
      ${union} select f.value ->> 'digest', f.value ->> 'sizeBytes'
        from ${versions}, json_each(v.files) f ${ofProject} and v.files is not null
      ${union} select o.digest, o.size_bytes from ${versions} join model_variants o on o.model_version_id = v.id ${ofProject}
      ${union} select o.digest, o.size_bytes from ${versions} join version_data o on o.model_version_id = v.id ${ofProject}
    )
    ${union} select * from (
      ${FILES.map((table) => `select digest, size_bytes from ${table} where project = ${project}`).join(` ${union} `)}
    )
    ${union} select digest, size_bytes from uploads where project = ${project} and ${LIVES}
    ${union} select digest, 4 * (spec ->> 'agents') * (spec ->> 'stateSize') from agent_pools
      where project = ${project} and digest is not null
  ) where digest <> ${but}`;
}
