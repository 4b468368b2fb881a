-- Placements are measured anew, by batch size, when their runner says hello.
DELETE FROM `placements`;--> statement-breakpoint
CREATE TABLE `model_variants` (
	`model_version_id` text NOT NULL,
	`name` text NOT NULL,
	`digest` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`fidelity` real,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`model_version_id`, `name`),
	FOREIGN KEY (`model_version_id`) REFERENCES `model_versions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `model_variants_of_digest` ON `model_variants` (`digest`);--> statement-breakpoint
DROP INDEX `placements_by_place`;--> statement-breakpoint
ALTER TABLE `placements` ADD `sweep` text NOT NULL;--> statement-breakpoint
ALTER TABLE `placements` ADD `memory` text;--> statement-breakpoint
ALTER TABLE `placements` ADD `load_ms` real NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `placements_by_place` ON `placements` (`model_version_id`,`runner_id`,`device_key`,`variant`,`backend`);--> statement-breakpoint
ALTER TABLE `placements` DROP COLUMN `batch`;--> statement-breakpoint
ALTER TABLE `placements` DROP COLUMN `service_ms`;