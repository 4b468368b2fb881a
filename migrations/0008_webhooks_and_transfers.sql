CREATE TABLE `transfers` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`export_id` text,
	`up_to` text NOT NULL,
	`touched_at_ms` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `webhooks` ADD `disabled_at_ms` integer;