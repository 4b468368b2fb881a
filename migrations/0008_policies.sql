CREATE TABLE `agent_pools` (
	`name` text PRIMARY KEY NOT NULL,
	`spec` text NOT NULL,
	`digest` text,
	`generation` integer NOT NULL,
	`version` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `archives` (
	`id` text PRIMARY KEY NOT NULL,
	`job_id` text,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`summary` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archives_of_job` ON `archives` (`job_id`);--> statement-breakpoint
CREATE TABLE `environments` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`key_id` text,
	`definition` text NOT NULL,
	`digest` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environments_name_unique` ON `environments` (`name`);--> statement-breakpoint
CREATE TABLE `item_memories` (
	`name` text PRIMARY KEY NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `item_memory_parts` (
	`memory` text NOT NULL,
	`part` integer NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`keys` text NOT NULL,
	PRIMARY KEY(`memory`, `part`),
	FOREIGN KEY (`memory`) REFERENCES `item_memories`(`name`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `job_artifacts` (
	`job_id` text NOT NULL,
	`name` text NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`job_id`, `name`)
);
--> statement-breakpoint
CREATE INDEX `job_artifacts_of_digest` ON `job_artifacts` (`digest`);--> statement-breakpoint
CREATE TABLE `populations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`layout` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `populations_name_unique` ON `populations` (`name`);--> statement-breakpoint
ALTER TABLE `model_versions` ADD `card` text;