CREATE TABLE `version_data` (
	`model_version_id` text PRIMARY KEY NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`rows` integer NOT NULL,
	`metric` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`model_version_id`) REFERENCES `model_versions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `version_data_of_digest` ON `version_data` (`digest`);--> statement-breakpoint
ALTER TABLE `model_variants` ADD `summary` text;--> statement-breakpoint
ALTER TABLE `model_variants` ADD `recipe` text;--> statement-breakpoint
ALTER TABLE `model_variants` ADD `measured` text;--> statement-breakpoint
ALTER TABLE `model_variants` ADD `job_id` text;--> statement-breakpoint
ALTER TABLE `model_versions` ADD `summary` text;