CREATE TABLE `serving_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`changed` text NOT NULL
);--> statement-breakpoint
INSERT INTO serving_state (id, changed) VALUES (1, hex(randomblob(8)));
--> statement-breakpoint
CREATE TRIGGER serving_projects_added AFTER INSERT ON projects BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_projects_changed AFTER UPDATE OF closed_at_ms ON projects BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_projects_deleted AFTER DELETE ON projects BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_profiles_added AFTER INSERT ON profiles BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_profiles_changed AFTER UPDATE ON profiles BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_profiles_deleted AFTER DELETE ON profiles BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_models_added AFTER INSERT ON models BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_models_changed AFTER UPDATE ON models BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_models_deleted AFTER DELETE ON models BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_model_versions_added AFTER INSERT ON model_versions BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_model_versions_changed AFTER UPDATE ON model_versions BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_model_versions_deleted AFTER DELETE ON model_versions BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_model_variants_added AFTER INSERT ON model_variants BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_model_variants_changed AFTER UPDATE ON model_variants BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_model_variants_deleted AFTER DELETE ON model_variants BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_runners_added AFTER INSERT ON runners BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_runners_changed AFTER UPDATE OF project, labels, capabilities, online, draining, quarantine, shared, connected_at_ms, removed_at_ms ON runners BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_runners_deleted AFTER DELETE ON runners BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_placements_added AFTER INSERT ON placements BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_placements_changed AFTER UPDATE ON placements BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
--> statement-breakpoint
CREATE TRIGGER serving_placements_deleted AFTER DELETE ON placements BEGIN
	UPDATE serving_state SET changed = hex(randomblob(8));
END;
