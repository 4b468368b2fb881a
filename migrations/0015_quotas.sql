CREATE TABLE `project_counts` (
	`project` text PRIMARY KEY NOT NULL,
	`series` integer DEFAULT 0 NOT NULL,
	`runs` integer DEFAULT 0 NOT NULL,
	`points` integer DEFAULT 0 NOT NULL,
	`day` integer DEFAULT 0 NOT NULL,
	`points_of_day` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `project_quotas` (
	`project` text PRIMARY KEY NOT NULL,
	`limits` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archives_of_project` ON `archives` (`project`,`digest`,`size_bytes`);--> statement-breakpoint
CREATE INDEX `job_artifacts_of_project` ON `job_artifacts` (`project`,`digest`,`size_bytes`);--> statement-breakpoint
CREATE INDEX `keys_of_project` ON `keys` (`project`,`revoked_at_ms`);--> statement-breakpoint
CREATE INDEX `registration_tokens_of_project` ON `registration_tokens` (`project`,`expires_at_ms`) WHERE used_by_runner_id is null;--> statement-breakpoint
CREATE INDEX `runners_of_project` ON `runners` (`project`) WHERE removed_at_ms is null;--> statement-breakpoint
CREATE INDEX `thresholds_of_project` ON `thresholds` (`project`);--> statement-breakpoint
CREATE INDEX `webhooks_of_project` ON `webhooks` (`project`);--> statement-breakpoint
INSERT INTO project_counts (project, series, runs, points)
SELECT project, sum(series), sum(runs), sum(points) FROM (
	SELECT project, 1 AS series, 0 AS runs, 0 AS points FROM series
	UNION ALL SELECT project, 0, 1, 0 FROM runs
	UNION ALL SELECT project, 0, 1, points FROM reports
) GROUP BY project;
--> statement-breakpoint
INSERT INTO project_quotas (project, limits)
SELECT project, json_object('series', max(200000, 4 * series), 'runs', max(500000, 4 * runs), 'points', max(10000000, 4 * points))
FROM project_counts WHERE series > 100000 OR runs > 250000 OR points > 5000000;
--> statement-breakpoint
CREATE TRIGGER project_series_added BEFORE INSERT ON series
WHEN NOT EXISTS (SELECT 1 FROM series WHERE id = new.id) BEGIN
	INSERT INTO project_counts (project, series) VALUES (new.project, 1)
	ON CONFLICT (project) DO UPDATE SET series = series + 1;
END;
--> statement-breakpoint
CREATE TRIGGER project_series_deleted AFTER DELETE ON series BEGIN
	UPDATE project_counts SET series = series - 1 WHERE project = old.project;
END;
--> statement-breakpoint
CREATE TRIGGER project_runs_added BEFORE INSERT ON runs
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE id = new.id OR job_id = new.job_id) BEGIN
	INSERT INTO project_counts (project, runs) VALUES (new.project, 1)
	ON CONFLICT (project) DO UPDATE SET runs = runs + 1;
END;
--> statement-breakpoint
CREATE TRIGGER project_runs_deleted AFTER DELETE ON runs BEGIN
	UPDATE project_counts SET runs = runs - 1 WHERE project = old.project;
END;
--> statement-breakpoint
CREATE TRIGGER project_reports_added BEFORE INSERT ON reports
WHEN NOT EXISTS (SELECT 1 FROM reports WHERE id = new.id) BEGIN
	INSERT INTO project_counts (project, runs, points, day, points_of_day)
	VALUES (new.project, 1, new.points, new.stored_at_ms / 86400000, new.points)
	ON CONFLICT (project) DO UPDATE SET runs = runs + 1, points = points + excluded.points,
		points_of_day = CASE WHEN excluded.day < day THEN points_of_day
			WHEN excluded.day = day THEN points_of_day + excluded.points ELSE excluded.points END,
		day = max(day, excluded.day);
END;
--> statement-breakpoint
CREATE TRIGGER project_reports_deleted AFTER DELETE ON reports BEGIN
	UPDATE project_counts SET runs = runs - 1, points = points - old.points WHERE project = old.project;
END;
