CREATE TABLE `audit_log` (
	`org_id` text NOT NULL,
	`id` text NOT NULL,
	`at` text NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`request_id` text,
	`detail` text NOT NULL,
	PRIMARY KEY(`org_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_log_by_subject` ON `audit_log` (`org_id`,`subject`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`org_id`,`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_action` ON `audit_log` (`org_id`,`action`,`id`) WHERE action NOT IN ('build.create', 'build.deliver');--> statement-breakpoint
CREATE TABLE `build_summary` (
	`org_id` text NOT NULL,
	`id` text NOT NULL,
	`number` integer NOT NULL,
	`repo_id` text NOT NULL,
	`pipeline_id` text,
	`ref` text NOT NULL,
	`commit_sha` text,
	`event` text NOT NULL,
	`trigger` text NOT NULL,
	`pull_number` integer,
	`author` text,
	`subject` text,
	`priority` integer NOT NULL,
	`retry_of` text,
	`created_by` text,
	`status` text NOT NULL,
	`attempt` integer NOT NULL,
	`agent_id` text,
	`exit_code` integer,
	`reason` text,
	`message` text,
	`failed_line` text,
	`tests` text,
	`jobs` text,
	`leak` integer NOT NULL,
	`queued_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`pool_version` integer NOT NULL,
	PRIMARY KEY(`org_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `build_summary_by_repo` ON `build_summary` (`org_id`,`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `build_summary_by_pipeline` ON `build_summary` (`org_id`,`pipeline_id`,`id`);--> statement-breakpoint
CREATE INDEX `build_summary_by_ref` ON `build_summary` (`org_id`,`ref`,`id`);--> statement-breakpoint
CREATE INDEX `build_summary_by_commit` ON `build_summary` (`org_id`,`commit_sha`,`id`) WHERE commit_sha IS NOT NULL;--> statement-breakpoint
CREATE INDEX `build_summary_by_end` ON `build_summary` (`finished_at`) WHERE finished_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `former_organization` (
	`id` text PRIMARY KEY NOT NULL,
	`deleted_at` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `job` (
	`org_id` text NOT NULL,
	`id` text NOT NULL,
	`build_id` text NOT NULL,
	`finished_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `job_by_end` ON `job` (`finished_at`);--> statement-breakpoint
CREATE TABLE `pool` (
	`org_id` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL,
	`complete` integer NOT NULL,
	`active` integer NOT NULL,
	`at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `service_metric` (
	`minute` integer PRIMARY KEY NOT NULL,
	`facts` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `upkeep_failure` (
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`org_id` text,
	`tries` integer NOT NULL,
	`next_at` integer NOT NULL,
	`reason` text NOT NULL,
	PRIMARY KEY(`kind`, `subject`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `variable_day` (
	`variable_id` text NOT NULL,
	`day` text NOT NULL,
	`build_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`variable_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `variable_day_by_day` ON `variable_day` (`day`);--> statement-breakpoint
ALTER TABLE `organization` ADD `deleting_at` text;--> statement-breakpoint
-- Each column is cast: only where both sides have the same types does SQLite use the indexes of both for a list.
CREATE VIEW `earlier_build` AS SELECT
	`org_id`,
	`id`,
	CAST(json_extract(`record`, '$.number') AS INTEGER) AS `number`,
	`repo_id`,
	`pipeline_id`,
	CAST(CASE WHEN `branch` LIKE 'refs/%' THEN `branch` ELSE 'refs/heads/' || `branch` END AS TEXT) AS `ref`,
	CAST(json_extract(`record`, '$.commitSha') AS TEXT) AS `commit_sha`,
	CAST('api' AS TEXT) AS `event`,
	CAST(json_extract(`record`, '$.trigger') AS TEXT) AS `trigger`,
	CAST(NULL AS INTEGER) AS `pull_number`,
	CAST(NULL AS TEXT) AS `author`,
	CAST(NULL AS TEXT) AS `subject`,
	CAST(json_extract(`record`, '$.priority') AS INTEGER) AS `priority`,
	CAST(json_extract(`record`, '$.retryOf') AS TEXT) AS `retry_of`,
	CAST(json_extract(`record`, '$.createdBy') AS TEXT) AS `created_by`,
	`status`,
	CAST(json_extract(`record`, '$.attempt') AS INTEGER) AS `attempt`,
	CAST(json_extract(`record`, '$.agentId') AS TEXT) AS `agent_id`,
	CAST(json_extract(`record`, '$.exitCode') AS INTEGER) AS `exit_code`,
	CAST(json_extract(`record`, '$.reason') AS TEXT) AS `reason`,
	CAST(json_extract(`record`, '$.message') AS TEXT) AS `message`,
	CAST(NULL AS TEXT) AS `failed_line`,
	CAST(NULL AS TEXT) AS `tests`,
	CAST(NULL AS TEXT) AS `jobs`,
	CAST(coalesce(json_extract(`record`, '$.leak'), 0) AS INTEGER) AS `leak`,
	CAST(round((julianday(json_extract(`record`, '$.queuedAt')) - 2440587.5) * 86400000.0) AS INTEGER) AS `queued_at`,
	CAST(round((julianday(json_extract(`record`, '$.startedAt')) - 2440587.5) * 86400000.0) AS INTEGER) AS `started_at`,
	CAST(round((julianday(`finished_at`) - 2440587.5) * 86400000.0) AS INTEGER) AS `finished_at`,
	`pool_version`
	FROM `build`;--> statement-breakpoint
CREATE VIEW `build_list` AS SELECT * FROM `build_summary` UNION ALL SELECT * FROM `earlier_build`;--> statement-breakpoint
CREATE VIEW `audit_list` AS SELECT `org_id`, `id`, `at`, `actor`, `action`, `subject`, `request_id`, `detail` FROM `audit_log`
	UNION ALL SELECT `org_id`, `id`, `at`, `actor`, `action`, `subject`, `request_id`, `detail` FROM `audit`;--> statement-breakpoint
-- A build is in one of the two tables. The release before, after a rollback, writes its own.
CREATE TRIGGER `build_replaces_summary` AFTER INSERT ON `build`
BEGIN
  DELETE FROM `build_summary` WHERE `org_id` = NEW.`org_id` AND `id` = NEW.`id`;
END;--> statement-breakpoint
CREATE TRIGGER `build_update_replaces_summary` AFTER UPDATE ON `build`
BEGIN
  DELETE FROM `build_summary` WHERE `org_id` = NEW.`org_id` AND `id` = NEW.`id`;
END;
