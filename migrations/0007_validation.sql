CREATE TABLE `requirement_sets` (
	`name` text PRIMARY KEY NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `alerts` ADD `runner_id` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `finding_key` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `finding` text;--> statement-breakpoint
CREATE INDEX `alerts_of_finding` ON `alerts` (`runner_id`,`finding_key`);--> statement-breakpoint
ALTER TABLE `placements` ADD `configuration` text;--> statement-breakpoint
ALTER TABLE `placements` ADD `validated` text;