ALTER TABLE `runners` ADD `ephemeral` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `runners_ephemeral` ON `runners` (`id`) WHERE ephemeral = 1 and removed_at_ms is null;