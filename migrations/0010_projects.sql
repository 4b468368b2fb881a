-- By hand: what is there already belongs to `main`, and drizzle would copy a column that the old tables do not have.
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`project` text NOT NULL,
	`key_id` text,
	`action` text NOT NULL,
	`path` text NOT NULL,
	`status` integer NOT NULL,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_by_time` ON `audit_entries` (`project`,`id`);
--> statement-breakpoint
CREATE INDEX `audit_entries_of_key` ON `audit_entries` (`key_id`);
--> statement-breakpoint
CREATE TABLE `projects` (
	`name` text PRIMARY KEY NOT NULL,
	`created_at_ms` integer NOT NULL,
	`closed_at_ms` integer
);
--> statement-breakpoint
ALTER TABLE `item_memory_parts` RENAME TO `old_item_memory_parts`;
--> statement-breakpoint
ALTER TABLE `item_memories` RENAME TO `old_item_memories`;
--> statement-breakpoint
CREATE TABLE `item_memories` (
	`project` text NOT NULL,
	`name` text NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `name`)
);
--> statement-breakpoint
INSERT INTO `item_memories`("project", "name", "spec", "version", "created_at_ms", "updated_at_ms") SELECT 'main', "name", "spec", "version", "created_at_ms", "updated_at_ms" FROM `old_item_memories`;
--> statement-breakpoint
CREATE TABLE `item_memory_parts` (
	`project` text NOT NULL,
	`memory` text NOT NULL,
	`part` integer NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`keys` text NOT NULL,
	PRIMARY KEY(`project`, `memory`, `part`),
	FOREIGN KEY (`project`,`memory`) REFERENCES `item_memories`(`project`,`name`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `item_memory_parts`("project", "memory", "part", "digest", "size_bytes", "keys") SELECT 'main', "memory", "part", "digest", "size_bytes", "keys" FROM `old_item_memory_parts`;
--> statement-breakpoint
DROP TABLE `old_item_memory_parts`;
--> statement-breakpoint
DROP TABLE `old_item_memories`;
--> statement-breakpoint
DROP INDEX `environments_name_unique`;
--> statement-breakpoint
ALTER TABLE `environments` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX `environments_by_name` ON `environments` (`project`,`name`);
--> statement-breakpoint
DROP INDEX `models_name_unique`;
--> statement-breakpoint
ALTER TABLE `models` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX `models_by_name` ON `models` (`project`,`name`);
--> statement-breakpoint
DROP INDEX `populations_name_unique`;
--> statement-breakpoint
ALTER TABLE `populations` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX `populations_by_name` ON `populations` (`project`,`name`);
--> statement-breakpoint
DROP INDEX `alerts_by_time`;
--> statement-breakpoint
ALTER TABLE `alerts` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
CREATE INDEX `alerts_by_time` ON `alerts` (`project`,`created_at_ms`,`id`);
--> statement-breakpoint
DROP INDEX `series_by_time`;
--> statement-breakpoint
ALTER TABLE `series` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
CREATE INDEX `series_by_time` ON `series` (`project`,`created_at_ms`,`id`);
--> statement-breakpoint
CREATE TABLE `__new_standings` (
	`project` text NOT NULL,
	`reference` text NOT NULL,
	`fingerprint_id` text NOT NULL,
	`shape` text NOT NULL,
	`dtype` text NOT NULL,
	`clock` text NOT NULL,
	`kernel` text NOT NULL,
	`variant` text NOT NULL,
	`median_ms` real NOT NULL,
	`low_ms` real NOT NULL,
	`high_ms` real NOT NULL,
	`iterations` integer NOT NULL,
	`device_name` text NOT NULL,
	`software` integer NOT NULL,
	`fingerprint` text NOT NULL,
	`run_id` text NOT NULL,
	`at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `reference`, `fingerprint_id`, `shape`, `dtype`, `clock`, `kernel`)
);
--> statement-breakpoint
INSERT INTO `__new_standings`("project", "reference", "fingerprint_id", "shape", "dtype", "clock", "kernel", "variant", "median_ms", "low_ms", "high_ms", "iterations", "device_name", "software", "fingerprint", "run_id", "at_ms") SELECT 'main', "reference", "fingerprint_id", "shape", "dtype", "clock", "kernel", "variant", "median_ms", "low_ms", "high_ms", "iterations", "device_name", "software", "fingerprint", "run_id", "at_ms" FROM `standings`;
--> statement-breakpoint
DROP TABLE `standings`;
--> statement-breakpoint
ALTER TABLE `__new_standings` RENAME TO `standings`;
--> statement-breakpoint
CREATE INDEX `standings_by_shape` ON `standings` (`reference`,`shape`);
--> statement-breakpoint
CREATE INDEX `standings_of_kernel` ON `standings` (`kernel`);
--> statement-breakpoint
CREATE TABLE `__new_agent_pools` (
	`project` text NOT NULL,
	`name` text NOT NULL,
	`spec` text NOT NULL,
	`digest` text,
	`generation` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `name`)
);
--> statement-breakpoint
INSERT INTO `__new_agent_pools`("project", "name", "spec", "digest", "generation", "version", "created_at_ms", "updated_at_ms") SELECT 'main', "name", "spec", "digest", "generation", "version", "created_at_ms", "updated_at_ms" FROM `agent_pools`;
--> statement-breakpoint
DROP TABLE `agent_pools`;
--> statement-breakpoint
ALTER TABLE `__new_agent_pools` RENAME TO `agent_pools`;
--> statement-breakpoint
CREATE TABLE `__new_baselines` (
	`project` text NOT NULL,
	`name` text NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `name`)
);
--> statement-breakpoint
INSERT INTO `__new_baselines`("project", "name", "spec", "version", "updated_at_ms") SELECT 'main', "name", "spec", "version", "updated_at_ms" FROM `baselines`;
--> statement-breakpoint
DROP TABLE `baselines`;
--> statement-breakpoint
ALTER TABLE `__new_baselines` RENAME TO `baselines`;
--> statement-breakpoint
CREATE TABLE `__new_profiles` (
	`project` text NOT NULL,
	`name` text NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `name`)
);
--> statement-breakpoint
INSERT INTO `__new_profiles`("project", "name", "spec", "version", "updated_at_ms") SELECT 'main', "name", "spec", "version", "updated_at_ms" FROM `profiles`;
--> statement-breakpoint
DROP TABLE `profiles`;
--> statement-breakpoint
ALTER TABLE `__new_profiles` RENAME TO `profiles`;
--> statement-breakpoint
CREATE TABLE `__new_requirement_sets` (
	`project` text NOT NULL,
	`name` text NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `name`)
);
--> statement-breakpoint
INSERT INTO `__new_requirement_sets`("project", "name", "spec", "version", "updated_at_ms") SELECT 'main', "name", "spec", "version", "updated_at_ms" FROM `requirement_sets`;
--> statement-breakpoint
DROP TABLE `requirement_sets`;
--> statement-breakpoint
ALTER TABLE `__new_requirement_sets` RENAME TO `requirement_sets`;
--> statement-breakpoint
CREATE TABLE `__new_tunings` (
	`id` text NOT NULL,
	`project` text NOT NULL,
	`kernel` text NOT NULL,
	`fingerprint_id` text NOT NULL,
	`job_id` text NOT NULL,
	`runner_id` text NOT NULL,
	`tuning` text NOT NULL,
	`stored_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_tunings`("id", "project", "kernel", "fingerprint_id", "job_id", "runner_id", "tuning", "stored_at_ms") SELECT "id", 'main', "kernel", "fingerprint_id", "job_id", "runner_id", "tuning", "stored_at_ms" FROM `tunings`;
--> statement-breakpoint
DROP TABLE `tunings`;
--> statement-breakpoint
ALTER TABLE `__new_tunings` RENAME TO `tunings`;
--> statement-breakpoint
CREATE INDEX `tunings_by_time` ON `tunings` (`stored_at_ms`,`id`);
--> statement-breakpoint
CREATE INDEX `tunings_of_kernel` ON `tunings` (`kernel`);
--> statement-breakpoint
ALTER TABLE `archives` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `kernels` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `keys` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `keys` ADD `previous_hash` text;
--> statement-breakpoint
ALTER TABLE `keys` ADD `previous_until_ms` integer;
--> statement-breakpoint
ALTER TABLE `keys` ADD `requests_per_second` real;
--> statement-breakpoint
ALTER TABLE `keys` ADD `last_used_at_ms` integer;
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_previousHash_unique` ON `keys` (`previous_hash`);
--> statement-breakpoint
ALTER TABLE `registration_tokens` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `reports` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `runners` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `runners` ADD `quarantine` text;
--> statement-breakpoint
ALTER TABLE `runners` ADD `shared` integer DEFAULT false NOT NULL;
--> statement-breakpoint
UPDATE `runners` SET `shared` = true WHERE `id` = 'rnr_0000000000000000000000edge';
--> statement-breakpoint
ALTER TABLE `job_artifacts` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `runs` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `thresholds` ADD `project` text DEFAULT 'main' NOT NULL;
--> statement-breakpoint
ALTER TABLE `webhooks` ADD `project` text DEFAULT 'main' NOT NULL;
