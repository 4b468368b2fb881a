CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash_unique` ON `keys` (`hash`);--> statement-breakpoint
CREATE TABLE `model_versions` (
	`id` text PRIMARY KEY NOT NULL,
	`model_id` text NOT NULL,
	`version` integer NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`inputs` text NOT NULL,
	`outputs` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`model_id`) REFERENCES `models`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `model_versions_by_version` ON `model_versions` (`model_id`,`version`);--> statement-breakpoint
CREATE UNIQUE INDEX `model_versions_by_digest` ON `model_versions` (`model_id`,`digest`);--> statement-breakpoint
CREATE INDEX `model_versions_of_digest` ON `model_versions` (`digest`);--> statement-breakpoint
CREATE TABLE `models` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `models_name_unique` ON `models` (`name`);--> statement-breakpoint
CREATE TABLE `placements` (
	`id` text PRIMARY KEY NOT NULL,
	`model_version_id` text NOT NULL,
	`runner_id` text NOT NULL,
	`device_key` text NOT NULL,
	`software` integer NOT NULL,
	`variant` text NOT NULL,
	`backend` text NOT NULL,
	`batch` integer NOT NULL,
	`state` text NOT NULL,
	`fidelity` real,
	`fingerprint` text NOT NULL,
	`service_ms` text NOT NULL,
	`link_ms` text NOT NULL,
	`updated_at_ms` integer NOT NULL,
	FOREIGN KEY (`model_version_id`) REFERENCES `model_versions`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`runner_id`) REFERENCES `runners`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `placements_by_place` ON `placements` (`model_version_id`,`runner_id`,`device_key`,`variant`,`backend`,`batch`);--> statement-breakpoint
CREATE INDEX `placements_of_runner` ON `placements` (`runner_id`);--> statement-breakpoint
CREATE TABLE `points` (
	`series_id` text NOT NULL,
	`at_ms` integer NOT NULL,
	`source_id` text NOT NULL,
	`run_id` text,
	`count` integer NOT NULL,
	`min` real NOT NULL,
	`max` real NOT NULL,
	`sum` real NOT NULL,
	`sketch` text NOT NULL,
	PRIMARY KEY(`series_id`, `source_id`),
	FOREIGN KEY (`series_id`) REFERENCES `series`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `points_of_series` ON `points` (`series_id`,`at_ms`);--> statement-breakpoint
CREATE INDEX `points_by_time` ON `points` (`at_ms`);--> statement-breakpoint
CREATE TABLE `profiles` (
	`name` text PRIMARY KEY NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `registration_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`used_by_runner_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registration_tokens_hash_unique` ON `registration_tokens` (`hash`);--> statement-breakpoint
CREATE TABLE `runners` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`credential_hash` text NOT NULL,
	`next_credential_hash` text,
	`labels` text NOT NULL,
	`capabilities` text,
	`online` integer DEFAULT false NOT NULL,
	`draining` integer DEFAULT false NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`connected_at_ms` integer,
	`last_seen_at_ms` integer,
	`removed_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runners_credentialHash_unique` ON `runners` (`credential_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `runners_nextCredentialHash_unique` ON `runners` (`next_credential_hash`);--> statement-breakpoint
CREATE INDEX `runners_by_name` ON `runners` (`name`);--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`runner_id` text NOT NULL,
	`device_key` text NOT NULL,
	`kind` text NOT NULL,
	`spec` text NOT NULL,
	`result` text NOT NULL,
	`started_at_ms` integer NOT NULL,
	`ended_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_jobId_unique` ON `runs` (`job_id`);--> statement-breakpoint
CREATE INDEX `runs_by_time` ON `runs` (`ended_at_ms`);--> statement-breakpoint
CREATE TABLE `series` (
	`id` text PRIMARY KEY NOT NULL,
	`subject_kind` text NOT NULL,
	`subject` text NOT NULL,
	`metric` text NOT NULL,
	`key` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `series_by_subject` ON `series` (`subject`,`metric`);--> statement-breakpoint
CREATE INDEX `series_by_time` ON `series` (`created_at_ms`,`id`);