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
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `schedule_by_org` ON `schedule` (`org_id`,`id`);--> statement-breakpoint
CREATE INDEX `schedule_by_pipeline` ON `schedule` (`pipeline_id`);--> statement-breakpoint
CREATE INDEX `schedule_by_time` ON `schedule` (`is_active`,`next_at`);--> statement-breakpoint
ALTER TABLE `pipeline` ADD `on_json` text;--> statement-breakpoint
ALTER TABLE `pipeline` ADD `file_snapshot_json` text;--> statement-breakpoint
ALTER TABLE `pipeline` ADD `host_context` text;--> statement-breakpoint
ALTER TABLE `pipeline` ADD `supersede` text DEFAULT 'file' NOT NULL;--> statement-breakpoint
ALTER TABLE `pipeline` ADD `badge_generation` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `repository` ADD `connection_id` text;--> statement-breakpoint
ALTER TABLE `repository` ADD `host_hook_id` text;--> statement-breakpoint
ALTER TABLE `repository` ADD `forks` text DEFAULT 'off' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `repository_by_connection` ON `repository` (`org_id`,`connection_id`,`git_host_repo_id`);