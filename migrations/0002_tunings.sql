CREATE TABLE `tunings` (
	`id` text PRIMARY KEY NOT NULL,
	`kernel` text NOT NULL,
	`fingerprint_id` text NOT NULL,
	`job_id` text NOT NULL,
	`runner_id` text NOT NULL,
	`tuning` text NOT NULL,
	`stored_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `tunings_by_time` ON `tunings` (`stored_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `tunings_of_kernel` ON `tunings` (`kernel`);