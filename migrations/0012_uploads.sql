CREATE TABLE `uploads` (
	`project` text NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`stored_at_ms` integer,
	`touched_at_ms` integer NOT NULL,
	PRIMARY KEY(`project`, `digest`)
);
--> statement-breakpoint
CREATE INDEX `uploads_of_digest` ON `uploads` (`digest`);--> statement-breakpoint
CREATE INDEX `uploads_by_touch` ON `uploads` (`touched_at_ms`);--> statement-breakpoint
ALTER TABLE `model_versions` ADD `files` text;--> statement-breakpoint
CREATE INDEX `model_versions_with_files` ON `model_versions` (`model_id`) WHERE files is not null;