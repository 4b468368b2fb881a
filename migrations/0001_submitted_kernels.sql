CREATE TABLE `kernels` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`digest` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`dtype` text NOT NULL,
	`dimensions` text NOT NULL,
	`reference` text NOT NULL,
	`state` text NOT NULL,
	`problem` text,
	`check_job_id` text,
	`definition` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `kernels_by_digest` ON `kernels` (`owner_id`,`digest`);--> statement-breakpoint
CREATE INDEX `kernels_of_reference` ON `kernels` (`reference`);--> statement-breakpoint
CREATE TABLE `standings` (
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
	PRIMARY KEY(`reference`, `fingerprint_id`, `shape`, `dtype`, `clock`, `kernel`)
);
--> statement-breakpoint
CREATE INDEX `standings_by_shape` ON `standings` (`reference`,`shape`);--> statement-breakpoint
CREATE INDEX `standings_of_kernel` ON `standings` (`kernel`);