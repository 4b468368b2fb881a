ALTER TABLE `rollups` ADD `parts` text;--> statement-breakpoint
CREATE INDEX `rollups_unpacked` ON `rollups` (`step_ms`) WHERE parts is null and step_ms > 3600000;