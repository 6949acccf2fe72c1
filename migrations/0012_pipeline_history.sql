-- Everything that 0.10.0 has. A database that has only a part of it is of a release before: the name of the constraint is
-- what whoever applies this reads. One of 0.10.0 to 0.13.0 also has the tables `audit`, `build` and `variable_use` with
-- views and triggers, which nothing reads any more: a migration of the release after 0.14.0 may drop them.
CREATE TABLE `base_check` (
	`applied` text CONSTRAINT "This database is of a release before 0.10.0. Deploy 0.10.0 first, and then this release." CHECK(`applied` IS NULL)
);
--> statement-breakpoint
INSERT INTO `base_check` SELECT `name` FROM `d1_migrations`;--> statement-breakpoint
DROP TABLE `base_check`;--> statement-breakpoint
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
CREATE TABLE `connection` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`web_url` text NOT NULL,
	`api_url` text NOT NULL,
	`clone_origin` text NOT NULL,
	`auth` text NOT NULL,
	`app_id` text,
	`client_id` text,
	`installation_id` text,
	`account` text,
	`sealed` text,
	`sealed_version` integer DEFAULT 0 NOT NULL,
	`hook_generation` integer DEFAULT 1 NOT NULL,
	`is_active` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `connection_by_org` ON `connection` (`org_id`,`id`);--> statement-breakpoint
CREATE TABLE `credential` (
	`repo_id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`kind` text NOT NULL,
	`username` text,
	`sealed` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `ended_session` (
	`id` text PRIMARY KEY NOT NULL,
	`until` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `ended_session_by_time` ON `ended_session` (`until`);--> statement-breakpoint
CREATE TABLE `former_organization` (
	`id` text PRIMARY KEY NOT NULL,
	`deleted_at` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `guard` (
	`failed` text NOT NULL,
	CONSTRAINT "token_live" CHECK("guard"."failed" <> 'token_live'),
	CONSTRAINT "unchanged" CHECK("guard"."failed" <> 'unchanged'),
	CONSTRAINT "owner_exists" CHECK("guard"."failed" <> 'owner_exists'),
	CONSTRAINT "unused" CHECK("guard"."failed" <> 'unused'),
	CONSTRAINT "within_limit" CHECK("guard"."failed" <> 'within_limit')
);
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
CREATE TABLE `key_check` (
	`id` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `open_pull` (
	`repo_id` text NOT NULL,
	`number` integer NOT NULL,
	`ref` text NOT NULL,
	`base` text NOT NULL,
	`head_sha` text NOT NULL,
	`draft` integer NOT NULL,
	`labels_json` text NOT NULL,
	`author` text,
	`title` text,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`repo_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `organization` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`location_hint` text,
	`created_at` text NOT NULL,
	`deleting_at` text
);
--> statement-breakpoint
CREATE TABLE `pipeline` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`repo_id` text NOT NULL,
	`name` text NOT NULL,
	`config_path` text NOT NULL,
	`definition` text,
	`requires` text NOT NULL,
	`timeout_seconds` integer NOT NULL,
	`max_parallel` integer,
	`max_attempts` integer NOT NULL,
	`is_active` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`on_json` text,
	`file_snapshot_json` text,
	`host_context` text,
	`supersede` text DEFAULT 'file' NOT NULL,
	`badge_generation` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pipeline_by_name` ON `pipeline` (`repo_id`,`name`);--> statement-breakpoint
CREATE INDEX `pipeline_by_org` ON `pipeline` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `pipeline_by_org_name` ON `pipeline` (`org_id`,`name`,`id`);--> statement-breakpoint
CREATE TABLE `pipeline_group` (
	`pipeline_id` text NOT NULL,
	`position` integer NOT NULL,
	`group_id` text NOT NULL,
	PRIMARY KEY(`pipeline_id`, `position`)
);
--> statement-breakpoint
CREATE INDEX `pipeline_group_by_group` ON `pipeline_group` (`group_id`);--> statement-breakpoint
CREATE TABLE `pipeline_history` (
	`org_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`newest` text NOT NULL,
	`oldest` text NOT NULL,
	`is_red` integer NOT NULL,
	`builds` text NOT NULL,
	`days` text NOT NULL,
	`counted_at` integer NOT NULL,
	`recounted_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `pipeline_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `pipeline_history_by_newest` ON `pipeline_history` (`org_id`,`newest`);--> statement-breakpoint
CREATE INDEX `pipeline_history_red` ON `pipeline_history` (`org_id`,`newest`) WHERE is_red = 1;--> statement-breakpoint
CREATE TABLE `pool` (
	`org_id` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL,
	`complete` integer NOT NULL,
	`active` integer NOT NULL,
	`at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `repository` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`git_host_repo_id` integer NOT NULL,
	`clone_host` text NOT NULL,
	`full_name` text NOT NULL,
	`clone_url` text NOT NULL,
	`default_branch` text NOT NULL,
	`default_pipeline_id` text,
	`is_active` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`connection_id` text,
	`host_hook_id` text,
	`forks` text DEFAULT 'off' NOT NULL,
	`skipped_heads_json` text,
	`untrusted_authors_json` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repository_by_host_id` ON `repository` (`org_id`,`clone_host`,`git_host_repo_id`);--> statement-breakpoint
CREATE INDEX `repository_by_org` ON `repository` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `repository_by_name` ON `repository` (`org_id`,`full_name`,`id`);--> statement-breakpoint
CREATE INDEX `repository_by_clone_url` ON `repository` (`org_id`,`clone_url`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `repository_by_connection` ON `repository` (`org_id`,`connection_id`,`git_host_repo_id`);--> statement-breakpoint
CREATE TABLE `schedule` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`name` text NOT NULL,
	`env_variables` text,
	`cron` text NOT NULL,
	`time_zone` text NOT NULL,
	`ref` text,
	`is_active` integer NOT NULL,
	`next_at` text NOT NULL,
	`last_at` text,
	`last_build_id` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`source` text DEFAULT 'api' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `schedule_by_org` ON `schedule` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `schedule_by_time` ON `schedule` (`is_active`,`next_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `schedule_by_name` ON `schedule` (`pipeline_id`,`name`);--> statement-breakpoint
CREATE TABLE `service_metric` (
	`minute` integer PRIMARY KEY NOT NULL,
	`facts` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `test_result` (
	`org_id` text NOT NULL,
	`repo_id` text NOT NULL,
	`pipeline_id` text,
	`test_id` text NOT NULL,
	`build_id` text NOT NULL,
	`job_id` text NOT NULL,
	`job_key` text,
	`suite` text NOT NULL,
	`class_name` text NOT NULL,
	`name` text NOT NULL,
	`file` text,
	`commit_sha` text,
	`branch` text NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	PRIMARY KEY(`org_id`, `job_id`, `test_id`)
);
--> statement-breakpoint
CREATE INDEX `test_result_by_test` ON `test_result` (`repo_id`,`test_id`,`at`);--> statement-breakpoint
CREATE INDEX `test_result_by_commit` ON `test_result` (`repo_id`,`commit_sha`);--> statement-breakpoint
CREATE INDEX `test_result_flaky` ON `test_result` (`repo_id`,`at`) WHERE kind = 'flaky';--> statement-breakpoint
CREATE INDEX `test_result_by_time` ON `test_result` (`at`);--> statement-breakpoint
CREATE TABLE `token` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`hash` text NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`role` text,
	`labels` text,
	`expires_at` text,
	`last_used_at` text,
	`previous_hash` text,
	`previous_until` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `token_hash_unique` ON `token` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `token_previous_hash_unique` ON `token` (`previous_hash`);--> statement-breakpoint
CREATE INDEX `token_by_org` ON `token` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `token_by_name` ON `token` (`org_id`,`name`,`id`);--> statement-breakpoint
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
CREATE TABLE `variable` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`scope` text NOT NULL,
	`owner_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text,
	`sealed` text,
	`sealed_version` integer DEFAULT 0 NOT NULL,
	`is_secret` integer NOT NULL,
	`description` text,
	`is_active` integer NOT NULL,
	`allow_override` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`last_used_at` text,
	`last_used_by` text,
	`file_encoding` text,
	`file_name` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variable_by_owner` ON `variable` (`org_id`,`scope`,`owner_id`,`key`);--> statement-breakpoint
CREATE INDEX `variable_by_org` ON `variable` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `variable_by_key` ON `variable` (`org_id`,`key`,`id`);--> statement-breakpoint
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
CREATE TABLE `variable_group` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`protection` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variable_group_by_name` ON `variable_group` (`org_id`,`name`);--> statement-breakpoint
CREATE INDEX `variable_group_by_org` ON `variable_group` (`org_id`,`id`);
