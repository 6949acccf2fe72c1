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
CREATE INDEX `test_result_by_time` ON `test_result` (`at`);