-- By hand: drizzle knows no WITHOUT ROWID, and would copy columns that the old tables do not have.
ALTER TABLE `points` RENAME TO `old_points`;
--> statement-breakpoint
ALTER TABLE `series` RENAME TO `old_series`;
--> statement-breakpoint
CREATE TABLE `series` (
	`no` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`subject_kind` text NOT NULL,
	`subject` text NOT NULL,
	`metric` text NOT NULL,
	`fingerprint_id` text,
	`label` text,
	`key` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`points` integer DEFAULT 0 NOT NULL,
	`last_point_at_ms` integer,
	`muted_at_ms` integer,
	`detected_at_ms` integer,
	`detected_seq` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
INSERT INTO `series` (`id`, `subject_kind`, `subject`, `metric`, `label`, `key`, `created_at_ms`)
SELECT `id`, `subject_kind`, `subject`, `metric`, `key` ->> '$.label', `key`, `created_at_ms` FROM `old_series` ORDER BY `created_at_ms`, `id`;
--> statement-breakpoint
CREATE TABLE `points` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`series_no` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`source_id` text NOT NULL,
	`run_id` text,
	`revision` text,
	`count` integer NOT NULL,
	`min` real NOT NULL,
	`max` real NOT NULL,
	`sum` real NOT NULL,
	`sketch` text NOT NULL,
	FOREIGN KEY (`series_no`) REFERENCES `series`(`no`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `points` (`series_no`, `at_ms`, `source_id`, `run_id`, `count`, `min`, `max`, `sum`, `sketch`)
SELECT `series`.`no`, `at_ms`, `source_id`, `run_id`, `count`, `min`, `max`, `sum`, `sketch`
FROM `old_points` JOIN `series` ON `series`.`id` = `old_points`.`series_id` ORDER BY `at_ms`, `series`.`no`, `source_id`;
--> statement-breakpoint
DROP TABLE `old_points`;
--> statement-breakpoint
DROP TABLE `old_series`;
--> statement-breakpoint
CREATE UNIQUE INDEX `points_of_series` ON `points` (`series_no`,`at_ms`,`source_id`);
--> statement-breakpoint
CREATE INDEX `points_of_run` ON `points` (`run_id`) WHERE run_id is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX `series_id_unique` ON `series` (`id`);
--> statement-breakpoint
CREATE INDEX `series_by_subject` ON `series` (`subject`,`metric`);
--> statement-breakpoint
CREATE INDEX `series_by_time` ON `series` (`created_at_ms`,`id`);
--> statement-breakpoint
CREATE INDEX `series_by_fingerprint` ON `series` (`fingerprint_id`);
--> statement-breakpoint
CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`direction` text NOT NULL,
	`fingerprint_id` text,
	`after_ms` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`note` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `alerts_by_time` ON `alerts` (`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_of_fingerprint` ON `alerts` (`fingerprint_id`,`at_ms`);--> statement-breakpoint
CREATE TABLE `baselines` (
	`name` text PRIMARY KEY NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `changes` (
	`id` text PRIMARY KEY NOT NULL,
	`series_no` integer NOT NULL,
	`alert_id` text NOT NULL,
	`threshold_id` text,
	`kind` text NOT NULL,
	`direction` text NOT NULL,
	`after_ms` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`run_id` text,
	`revision` text,
	`evidence` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`series_no`) REFERENCES `series`(`no`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`alert_id`) REFERENCES `alerts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `changes_of_series` ON `changes` (`series_no`,`at_ms`);--> statement-breakpoint
CREATE INDEX `changes_of_alert` ON `changes` (`alert_id`);--> statement-breakpoint
CREATE TABLE `history_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`rolled_seq` integer DEFAULT 0 NOT NULL,
	`roll_version` integer DEFAULT 0 NOT NULL,
	`pruned_seq` integer DEFAULT 0 NOT NULL,
	`detected_seq` integer DEFAULT 0 NOT NULL,
	`detect_version` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `reports` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`name` text NOT NULL,
	`digest` text NOT NULL,
	`tool` text NOT NULL,
	`label` text,
	`revision` text,
	`points` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`stored_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `reports_by_time` ON `reports` (`stored_at_ms`);--> statement-breakpoint
CREATE TABLE `rollups` (
	`series_no` integer NOT NULL,
	`step_ms` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`run_id` text,
	`count` integer NOT NULL,
	`min` real NOT NULL,
	`max` real NOT NULL,
	`sum` real NOT NULL,
	`sketch` text NOT NULL,
	PRIMARY KEY(`series_no`, `step_ms`, `at_ms`),
	FOREIGN KEY (`series_no`) REFERENCES `series`(`no`) ON UPDATE no action ON DELETE no action
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `thresholds` (
	`id` text PRIMARY KEY NOT NULL,
	`spec` text NOT NULL,
	`version` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `transfers` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`export_id` text,
	`up_to` text NOT NULL,
	`touched_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`alert_id` text NOT NULL,
	`body` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at_ms` integer,
	`delivered_at_ms` integer,
	`last_outcome` text,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`next_at_ms`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_time` ON `webhook_deliveries` (`webhook_id`,`created_at_ms`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`secret` text NOT NULL,
	`spec` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`disabled_at_ms` integer
);
--> statement-breakpoint
INSERT INTO `history_state` (`id`) VALUES (1);
