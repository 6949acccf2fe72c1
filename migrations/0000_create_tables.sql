CREATE TABLE `audit` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`at` text NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`request_id` text,
	`detail` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_by_org` ON `audit` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_subject` ON `audit` (`org_id`,`subject`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_action` ON `audit` (`org_id`,`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_actor` ON `audit` (`org_id`,`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_time` ON `audit` (`at`);--> statement-breakpoint
CREATE TABLE `build` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`repo_id` text NOT NULL,
	`pipeline_id` text,
	`branch` text NOT NULL,
	`status` text NOT NULL,
	`pool_version` integer NOT NULL,
	`record` text NOT NULL,
	`finished_at` text
);
--> statement-breakpoint
CREATE INDEX `build_by_org` ON `build` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `build_by_repo` ON `build` (`org_id`,`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `build_by_pipeline` ON `build` (`org_id`,`pipeline_id`,`id`);--> statement-breakpoint
CREATE INDEX `build_by_branch` ON `build` (`org_id`,`branch`,`id`);--> statement-breakpoint
CREATE INDEX `build_by_status` ON `build` (`org_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `build_under_way` ON `build` (`org_id`) WHERE status IN ('queued', 'assigned', 'running', 'canceling');--> statement-breakpoint
CREATE INDEX `build_by_end` ON `build` (`finished_at`);--> statement-breakpoint
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
CREATE TABLE `guard` (
	`failed` text NOT NULL,
	CONSTRAINT "token_live" CHECK("guard"."failed" <> 'token_live'),
	CONSTRAINT "unchanged" CHECK("guard"."failed" <> 'unchanged'),
	CONSTRAINT "owner_exists" CHECK("guard"."failed" <> 'owner_exists'),
	CONSTRAINT "unused" CHECK("guard"."failed" <> 'unused'),
	CONSTRAINT "within_limit" CHECK("guard"."failed" <> 'within_limit')
);
--> statement-breakpoint
CREATE TABLE `key_check` (
	`id` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `organization` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`location_hint` text,
	`created_at` text NOT NULL
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
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pipeline_by_name` ON `pipeline` (`repo_id`,`name`);--> statement-breakpoint
CREATE INDEX `pipeline_by_org` ON `pipeline` (`org_id`,`id`);--> statement-breakpoint
CREATE TABLE `pipeline_group` (
	`pipeline_id` text NOT NULL,
	`position` integer NOT NULL,
	`group_id` text NOT NULL,
	PRIMARY KEY(`pipeline_id`, `position`)
);
--> statement-breakpoint
CREATE INDEX `pipeline_group_by_group` ON `pipeline_group` (`group_id`);--> statement-breakpoint
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
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repository_by_host_id` ON `repository` (`org_id`,`clone_host`,`git_host_repo_id`);--> statement-breakpoint
CREATE INDEX `repository_by_org` ON `repository` (`org_id`,`id`);--> statement-breakpoint
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
	`last_used_by` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variable_by_owner` ON `variable` (`org_id`,`scope`,`owner_id`,`key`);--> statement-breakpoint
CREATE INDEX `variable_by_org` ON `variable` (`org_id`,`id`);--> statement-breakpoint
CREATE TABLE `variable_group` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variable_group_by_name` ON `variable_group` (`org_id`,`name`);--> statement-breakpoint
CREATE INDEX `variable_group_by_org` ON `variable_group` (`org_id`,`id`);--> statement-breakpoint
CREATE TABLE `variable_use` (
	`variable_id` text NOT NULL,
	`build_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`variable_id`, `build_id`, `at`)
);
--> statement-breakpoint
CREATE INDEX `variable_use_by_time` ON `variable_use` (`at`);